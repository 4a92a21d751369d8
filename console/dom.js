// Builds elements. Text is only ever set as text, so nothing from outside can become markup.

export function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value;
    else made.setAttribute(name === "class" ? "class" : name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Puts new content in place of the old; what had focus or was unfolded stays so, by its id.
export function fill(place, ...children) {
  const focused = document.activeElement?.id;
  const unfolded = new Set([...place.querySelectorAll("details[open][id]")].map((each) => each.id));
  place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  for (const each of place.querySelectorAll("details[id]")) {
    if (unfolded.has(each.id)) each.open = true;
  }
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

export function busy(button, work) {
  return async (event) => {
    event?.preventDefault();
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      await work(event);
    } finally {
      button.removeAttribute("aria-disabled");
    }
  };
}

export const notice = (kind, ...children) =>
  h("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" }, ...children);
