# mcp-loadtest in a small image: for servers that are reached by an address, and for mocks.
#
#   docker build --build-arg COMMIT=$(git rev-parse HEAD) -t mcp-loadtest .
#   docker run --rm mcp-loadtest probe --url http://host.docker.internal:3000/mcp
#   docker run --rm --network host mcp-loadtest mock --transport http --listen 127.0.0.1:8080
#
# (A mock listens on loopback addresses only; with the network of the host they are those of the host.)
#
# A server that is started over stdio needs its own interpreter beside it; take the binary into its image:
#
#   COPY --from=mcp-loadtest /usr/local/bin/mcp-loadtest /usr/local/bin/
FROM rust:1.93-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
ARG COMMIT=
ENV MCP_LOADTEST_COMMIT=$COMMIT
RUN cargo build --release --locked --package mcp-loadtest-cli \
 && target/release/mcp-loadtest man --dir /out/share/man/man1 \
 && for shell in bash zsh fish; do \
      mkdir -p /out/share/completions \
      && target/release/mcp-loadtest completions "$shell" > "/out/share/completions/mcp-loadtest.$shell"; \
    done

FROM debian:bookworm-slim
# Certificates, so that servers over TLS can be trusted.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 tester
COPY --from=build /src/target/release/mcp-loadtest /usr/local/bin/mcp-loadtest
COPY --from=build /out/share/ /usr/local/share/mcp-loadtest/
USER tester
WORKDIR /home/tester
ENTRYPOINT ["mcp-loadtest"]
CMD ["--help"]
