// What the account has, and every movement of it.

import { explain } from "./app.js";
import { get } from "./api.js";
import { busy, fill, h, notice } from "./dom.js";
import { named, number, t, time } from "./texts.js";

const SIGNS = { grant: "+", release: "+", hold: "−", void: "−" };

export function show(main) {
  let live = true;
  const body = h("div", { class: "stack" }, h("p", { class: "quiet" }, t("loading")));
  fill(main, h("h1", { tabindex: "-1" }, t("credits.title")), body);
  Promise.all([get("v1/credits"), get("v1/credits/ledger")])
    .then(([had, page]) => live && fill(body, balance(had), ledger(page)))
    .catch((trouble) => live && fill(body, notice("bad", explain(trouble))));
  return () => (live = false);
}

const balance = (had) =>
  h("dl", { class: "tiles" }, ["available", "held", "spent"].map((name) =>
    h("div", { class: "card" }, h("dt", {}, t(`credits.${name}`)), h("dd", { id: `credits-${name}` }, number(had[name])))));

function ledger(page) {
  const rows = h("tbody", {}, page.entries.map(row));
  const more = h("div");
  const draw = (cursor) => {
    const button = cursor && h("button", { type: "button", class: "quiet" }, t("more"));
    button?.addEventListener("click", busy(button, async () => {
      const next = await get(`v1/credits/ledger?cursor=${encodeURIComponent(cursor)}`);
      rows.append(...next.entries.map(row));
      draw(next.cursor);
    }));
    fill(more, button);
  };
  draw(page.cursor);
  if (!page.entries.length) return h("p", { class: "quiet" }, t("ledger.none"));
  return h("section", { class: "card", "aria-labelledby": "ledger" },
    h("h2", { id: "ledger" }, t("ledger.title")),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${t("ledger.title")}: ${t("table")}` },
      h("table", {},
        h("thead", {}, h("tr", {}, ["what", "amount", "when", "task"].map((name) => h("th", { scope: "col", class: name }, t(`ledger.${name}`))))),
        rows)),
    more);
}

const row = (entry) =>
  h("tr", {},
    h("td", {}, named("entry", entry.kind), entry.note && h("span", { class: "quiet" }, ` ${entry.note}`)),
    h("td", { class: "amount" }, `${SIGNS[entry.kind] ?? ""}${number(Math.abs(entry.amount))}`),
    h("td", {}, h("time", { datetime: entry.at }, time(entry.at))),
    h("td", {}, entry.task ? h("a", { href: `#/tasks/${entry.task}` }, h("code", {}, entry.task.slice(-6))) : ""));
