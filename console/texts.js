// Words of the chosen language, and how it writes times, numbers and sizes.

const LANGUAGES = ["en", "zh"];
let words = {};
export let language = "en";
let locale = "en"; // the reader's own kind of that language, for dates

export async function speak(wanted) {
  language = wanted ?? remembered() ?? preferred();
  const file = await fetch(new URL(`./texts.${language}.json`, import.meta.url));
  words = await file.json();
  locale = navigator.languages.find((each) => each.toLowerCase().startsWith(language)) ?? language;
  document.documentElement.lang = language === "zh" ? "zh-Hans" : language;
  if (wanted) localStorage.setItem("tallyreel.language", wanted);
}

export const other = () => LANGUAGES.find((each) => each !== language);

function remembered() {
  const kept = localStorage.getItem("tallyreel.language");
  return LANGUAGES.includes(kept) ? kept : null;
}

function preferred() {
  const first = navigator.languages.map((each) => each.slice(0, 2).toLowerCase()).find((each) => LANGUAGES.includes(each));
  return first ?? LANGUAGES[0];
}

export const knows = (name) => name in words;

export function t(name, values = {}) {
  const text = words[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));
}

// A word for something that the service names; its own name where there is none.
export const named = (group, name, own) => words[`${group}.${name}`] ?? own ?? String(name);

// Tags come from orders and from models: what is none is shown as it is.
export function nameOfLanguage(tag) {
  try {
    return new Intl.DisplayNames(locale, { type: "language" }).of(tag);
  } catch {
    return tag;
  }
}

// For an element's own language: only what is a tag.
export function languageTag(tag) {
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return null;
  }
}

export const number = (value) => new Intl.NumberFormat(locale).format(value);

export function time(iso) {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  const style = today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(locale, style).format(at);
}

export function bytes(count) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const step = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  const style = { style: "unit", unit: units[step], maximumFractionDigits: step > 1 ? 1 : 0 };
  return new Intl.NumberFormat(locale, style).format(count / 1000 ** step);
}

export function span(seconds) {
  const [value, unit] = seconds < 60 ? [seconds, "second"] : seconds < 3600 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
  const style = { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: seconds < 10 || seconds >= 60 ? 1 : 0 };
  return new Intl.NumberFormat(locale, style).format(value);
}
