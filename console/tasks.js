// The list of tasks, newest first.

import { explain } from "./app.js";
import { ask, get } from "./api.js";
import { busy, fill, h, notice } from "./dom.js";
import { follow } from "./poll.js";
import { named, number, t, time } from "./texts.js";

const PAGE = 20;
const LIST_MS = 5000; // while some task is open

export const badge = (task) => h("span", { class: `badge ${looks(task)}` }, t(`state.${looks(task)}`));

export function looks(task) {
  return task.result && !task.result.url ? "expired" : task.state;
}

export function show(main) {
  const list = h("ul", { class: "list" });
  const told = h("div");
  const more = h("div");
  let older = []; // pages that were asked for by hand stay as they were
  fill(main, h("h1", { tabindex: "-1" }, t("tasks.title")), told, list, more);

  const draw = (newest, cursor) => {
    const shown = new Set(newest.map((task) => task.id));
    const all = [...newest, ...older.filter((task) => !shown.has(task.id))];
    if (!all.length) {
      fill(list, h("li", { class: "card empty" }, h("p", {}, t("tasks.none")), h("a", { class: "button", href: "#/new" }, t("nav.new"))));
    } else {
      fill(list, all.map(line));
    }
    if (!older.length) fill(more, cursor && moreButton(cursor));
  };
  let newest = [];

  function moreButton(cursor) {
    const button = h("button", { type: "button", class: "quiet" }, t("more"));
    button.addEventListener("click", busy(button, async () => {
      const page = await get(`v1/tasks?limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`);
      older = [...older, ...page.tasks];
      draw(newest, null);
      fill(more, page.cursor && moreButton(page.cursor));
    }));
    return button;
  }

  const poll = follow(
    async () => ({ ...(await ask("GET", `v1/tasks?limit=${PAGE}`)), afterMs: LIST_MS }),
    {
      reached: () => fill(told),
      unreached: () => fill(told, notice("warn", t("trouble.unreachable"))),
      refused: (trouble) => fill(told, notice("bad", explain(trouble))),
      news: ({ body }) => {
        newest = body.tasks;
        draw(newest, body.cursor);
        return newest.some((task) => !task.done);
      },
    },
  );
  return poll.stop;
}

const line = (task) =>
  h("li", {},
    h("a", { id: `task-${task.id}`, class: "card row", href: `#/tasks/${task.id}` },
      h("span", { class: "grow" },
        h("strong", {}, named("kind", task.kind)),
        h("span", { class: "quiet" }, `${time(task.created_at)} · ${t("credits.count", { count: number(task.credits.amount) })}`)),
      badge(task)));
