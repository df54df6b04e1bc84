// Keeps the page of a run that goes on up to date from the events of who serves it. What it puts in
// place is what the server would have sent as a page, escaped in the same way; scripts in it would not
// run, because the policy of the page knows the prints of its own alone.
(() => {
  "use strict";
  const root = document.documentElement;
  const part = (page, name) => page.querySelector(name);
  const figures = (page) => [...page.querySelectorAll("section.figure")];
  const ids = (page) => figures(page).map((figure) => figure.id).join();

  // All but the plots over time, which are drawn from their data, and the tables that somebody opened.
  const freshen = (old, fresh) => {
    for (const name of [".reading", ".still", ":scope > .scroll", "details:not([open])"]) {
      if (old.matches(".time") && name.startsWith("details")) continue;
      const [was, is] = [part(old, name), part(fresh, name)];
      if (was && is && was.innerHTML !== is.innerHTML) was.replaceWith(is);
    }
  };

  const take = (update) => {
    const page = new DOMParser().parseFromString(update.header + `<main>${update.main}</main>` + update.footer, "text/html");
    document.title = update.title;
    for (const name of [".verdict", "h1", ".facts", ".tiles", "footer"]) {
      const [was, is] = [part(document, name), part(page, name)];
      if (was && is && was.outerHTML !== is.outerHTML) was.replaceWith(is);
    }
    const same = ids(document) === ids(page);
    if (same) figures(page).forEach((fresh) => freshen(document.getElementById(fresh.id), fresh));
    else part(document, "main").replaceChildren(...part(page, "main").childNodes);
    window.report.renew(update.data, !same);
    root.dataset.updates = Number(root.dataset.updates ?? 0) + 1;
  };

  const source = new EventSource("events");
  source.addEventListener("update", (event) => take(JSON.parse(event.data)));
  // The final report is a page of its own.
  source.addEventListener("over", () => (source.close(), location.reload()));
  source.addEventListener("error", () => {
    const [word, facts] = [part(document, ".verdict"), part(document, ".facts")];
    if (source.readyState !== EventSource.OPEN) {
      word.textContent = "CUT OFF";
      facts.textContent = "mcp-loadtest does not answer any more; what is shown is the last that it told";
    }
  });
})();
