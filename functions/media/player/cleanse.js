// Takes out of recorded events whatever could run, load or leave the page.
// The policy of the page and the closed network forbid the same; this keeps what is shown
// the same whether or not they had anything to stop.
"use strict";

const Cleanse = (() => {
  // A picture that was not recorded: a quiet box with a common picture's proportions.
  const PLACEHOLDER =
    "data:image/svg+xml," +
    encodeURIComponent(
      '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="18" viewBox="0 0 32 18" ' +
        'preserveAspectRatio="none"><rect width="32" height="18" fill="#d5dae1"/></svg>',
    );
  const LOADS = new Set([
    "src", "href", "xlink:href", "poster", "background", "data", "action", "formaction",
    "codebase", "manifest", "ping", "cite", "longdesc", "archive", "classid", "lowsrc",
  ]);
  const DROPPED = new Set([
    "srcdoc", "srcset", "imagesrcset", "http-equiv", "autoplay", "nonce", "integrity", "sizes",
    "autofocus", "is", "crossorigin", "loading", "rr_src", "rr_mediastate",
  ]);
  const FRAMES = new Set(["iframe", "frame", "object", "embed", "applet", "portal", "fencedframe"]);
  const PLAYED = new Set(["video", "audio", "source", "track", "script", "base", "meta"]);
  // What a recorded canvas call may be given; each of these only holds values.
  const VALUES = new Set([
    "ImageData", "ImageBitmap", "Blob", "ArrayBuffer", "HTMLImageElement", "Path2D", "DOMMatrix",
    "Uint8Array", "Uint8ClampedArray", "Int8Array", "Uint16Array", "Int16Array", "Uint32Array",
    "Int32Array", "Float32Array", "Float64Array", "DataView",
  ]);

  const names = (kind) =>
    new Set(Object.getOwnPropertyNames(kind.prototype).filter((name) => name !== "constructor"));
  const drawing = names(CanvasRenderingContext2D);
  const shading =
    typeof WebGL2RenderingContext === "function" ? names(WebGL2RenderingContext) : new Set();

  const inline = (value) => /^\s*(data:(image|font|application\/(x-)?font)|#)/i.test(value);

  // The value to use, or undefined for none.
  function attribute(tag, name, value) {
    const key = name.toLowerCase();
    if (key.startsWith("on") || DROPPED.has(key)) return undefined;
    if (!LOADS.has(key) || typeof value !== "string") return value;
    if (FRAMES.has(tag) || PLAYED.has(tag)) {
      return key === "poster" && inline(value) ? value : undefined;
    }
    if (tag === "a" || tag === "area") return "#";
    if (inline(value)) return value;
    return tag === "img" && key === "src" ? PLACEHOLDER : undefined;
  }

  function attributes(tag, given) {
    for (const name of Object.keys(given)) {
      const value = attribute(tag, name, given[name]);
      if (value === undefined) delete given[name];
      else given[name] = value;
    }
  }

  // Visits a serialized tree without recursion: recorded pages can be thousands of levels deep.
  function tree(root, canvases) {
    const waiting = [root];
    while (waiting.length) {
      const node = waiting.pop();
      if (!node || typeof node !== "object") continue;
      if (node.type === 2) {
        if (typeof node.tagName !== "string") node.tagName = "div";
        const tag = node.tagName.toLowerCase();
        if (tag === "script") node.tagName = "noscript";
        node.attributes = node.attributes || {};
        attributes(tag, node.attributes);
        if (tag === "canvas" && typeof node.attributes.rr_dataURL === "string") {
          if (inline(node.attributes.rr_dataURL)) canvases.push([node.id, node.attributes.rr_dataURL]);
          delete node.attributes.rr_dataURL;
        }
      }
      if (node.type === 0 || node.type === 2) {
        if (!Array.isArray(node.childNodes)) node.childNodes = [];
        for (const child of node.childNodes) waiting.push(child);
      }
    }
  }

  function harmless(root) {
    const waiting = [root];
    while (waiting.length) {
      const value = waiting.pop();
      if (!value || typeof value !== "object") continue;
      if ("rr_type" in value && "args" in value && !VALUES.has(value.rr_type)) return false;
      if ("src" in value && !inline(String(value.src))) return false;
      for (const part of Object.values(value)) waiting.push(part);
    }
    return true;
  }

  // Keeps the calls that a canvas has, with values that only hold.
  function canvas(data) {
    const known = data.type === 0 || data.type === undefined ? drawing : shading;
    const allowed = (call) =>
      call && known.has(call.property) && Array.isArray(call.args) && harmless(call.args);
    data.commands = (Array.isArray(data.commands) ? data.commands : [{ ...data }]).filter(allowed);
  }

  // Moving pictures follow the browser's clock, which nobody sets: their first one stays.
  function stills(text) {
    if (!text.includes("data:image/")) return text;
    return text.replace(/(data:image\/(gif|a?png|webp);base64,)([A-Za-z0-9+/=\\]+)/g, (whole, head, kind, packed) => {
      try {
        const still = STILL[kind](atob(packed.replaceAll("\\", "")));
        return still === null ? whole : head + btoa(still);
      } catch {
        return whole;
      }
    });
  }

  // What to show of a picture instead of all of it; null for what does not move.
  const STILL = { gif: stillGif, png: stillPng, apng: stillPng, webp: stillWebp };

  function stillGif(bytes) {
    return bytes.slice(0, firstPicture(bytes)) + ";";
  }

  // Without the chunks that make it move, what is left is the picture for those who know only PNG.
  function stillPng(bytes) {
    const moving = new Set(["acTL", "fcTL", "fdAT"]);
    let kept = bytes.slice(0, 8);
    let moves = false;
    for (let place = 8; place + 12 <= bytes.length; ) {
      const end = place + 12 + number(bytes, place, [24, 16, 8, 0]);
      const name = bytes.slice(place + 4, place + 8);
      if (name === "IDAT" && !moves) return null;
      if (moving.has(name)) moves = true;
      else kept += bytes.slice(place, end);
      place = end;
    }
    return moves ? kept : null;
  }

  // An animation of one frame does not move.
  function stillWebp(bytes) {
    for (let place = 12; place + 8 <= bytes.length; ) {
      const name = bytes.slice(place, place + 4);
      if (name === "VP8 " || name === "VP8L") return null;
      const size = number(bytes, place + 4, [0, 8, 16, 24]);
      place += 8 + size + (size & 1);
      if (name === "ANMF") {
        const length = [0, 8, 16, 24].map((by) => String.fromCharCode(((place - 8) >> by) & 255)).join("");
        return bytes.slice(0, 4) + length + bytes.slice(8, place);
      }
    }
    return null;
  }

  const number = (bytes, place, order) =>
    order.reduce((sum, by, at) => sum + bytes.charCodeAt(place + at) * 2 ** by, 0);

  // Where the first picture of a GIF ends.
  function firstPicture(bytes) {
    const at = (place) => bytes.charCodeAt(place);
    const table = (flags) => (flags & 128 ? 3 << ((flags & 7) + 1) : 0);
    let place = 13 + table(at(10));
    const blocks = () => {
      while (at(place) > 0) place += at(place) + 1;
      place += 1;
    };
    while (at(place) === 0x21) {
      place += 2;
      blocks();
    }
    if (at(place) !== 0x2c) throw new Error("no picture");
    place += 10 + table(at(place + 9)) + 1;
    blocks();
    return place;
  }

  return { stills, tree, attributes, attribute, canvas, inline };
})();
