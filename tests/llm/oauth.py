"""An application that has to get in first: Authlib gets the tokens, OpenAI's SDK asks with them.

`careful` gets another token when one has run out, `careless` does not; `user` is let in by a browser.
"""

import os
import sys
from urllib.parse import parse_qs, urlsplit

import openai
import requests
from authlib.integrations.requests_client import OAuth2Session

URL = os.environ["MCP_LOADTEST_LLM_URL"]
PLACES = requests.get(URL + "/.well-known/oauth-authorization-server", timeout=30).json()


def ask(token, question):
    client = openai.OpenAI(api_key=token["access_token"])
    said = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": question}]
    )
    print(said.choices[0].message.content)


def program(is_careful):
    session = OAuth2Session("app", "quiet", token_endpoint=PLACES["token_endpoint"])
    token = session.fetch_token(grant_type="client_credentials")
    for question in ["one", "two", "three", "four", "five"]:
        try:
            ask(token, question)
        except openai.AuthenticationError:
            if not is_careful:
                print("something went wrong")
                continue
            token = session.fetch_token(grant_type="client_credentials")
            ask(token, question)


def user():
    back = "http://127.0.0.1:9/back"
    session = OAuth2Session(
        "app",
        "quiet",
        redirect_uri=back,
        scope="models",
        code_challenge_method="S256",
        token_endpoint=PLACES["token_endpoint"],
        revocation_endpoint=PLACES["revocation_endpoint"],
    )
    verifier = "v" * 48
    page, state = session.create_authorization_url(
        PLACES["authorization_endpoint"], code_verifier=verifier
    )
    place = requests.get(page, allow_redirects=False, timeout=30).headers["location"]
    assert parse_qs(urlsplit(place).query)["state"] == [state]
    first = session.fetch_token(authorization_response=place, code_verifier=verifier)
    ask(first, "one")
    ask(first, "two")
    second = session.refresh_token(PLACES["token_endpoint"], refresh_token=first["refresh_token"])
    assert second["access_token"] != first["access_token"]
    ask(second, "three")
    session.revoke_token(PLACES["revocation_endpoint"], token=second["access_token"])
    active = session.introspect_token(
        PLACES["introspection_endpoint"], token=second["access_token"]
    )
    print("still good:", active.json()["active"])


if sys.argv[1] == "user":
    user()
else:
    program(is_careful=sys.argv[1] == "careful")
