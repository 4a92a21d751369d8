// Drives the replayer by hand: one call per step, nothing by the clock.
"use strict";

const Player = (() => {
  const SETTLE_MS = 2000; // for pictures and fonts out of the recording; more never arrives
  const PENDING_MAX = 50; // scrolls that wait for room
  const PINNED_MAX = 2000; // animations; a page with more is not watched for each of them
  const MOVES = new Set([1, 6, 12]); // MouseMove, TouchMove, Drag: the pointer is drawn elsewhere
  const ANIMATED = new Set(["animate", "animatetransform", "animatemotion", "set"]);
  const STYLE = [
    "* { caret-color: transparent !important; scroll-behavior: auto !important; " +
      "overflow-anchor: none !important; }",
    "video { background-color: #1b1f27; }",
  ];

  let replayer, size;
  let pictures = new Set(); // images still loading
  let hosts = new Set(); // elements with a document or a tree of their own
  let moving = new Set(); // elements that animate the drawing that they are in
  let adopting = new Map(); // document or host id -> sheets that it waits for
  let scrolls = new Map(); // id -> offset that the page is too short for as yet
  let clocks = new WeakMap(); // animation -> [own time, session time of the last look]
  let hovered = null;
  const errors = [];

  const turn = () => new Promise((done) => setTimeout(done));

  function watch(node) {
    if (node.nodeName === "IMG" || node.nodeName === "image") pictures.add(node);
    if (ANIMATED.has(node.nodeName.toLowerCase())) moving.add(node);
    if (node.shadowRoot || node.nodeName === "IFRAME" || node.nodeName === "FRAME") hosts.add(node);
  }

  function start(width, height, windowWidth, windowHeight) {
    size = [width, height];
    replayer = new rrwebReplay.Replayer([{ type: 5, timestamp: 0, data: {} }], {
      root: document.getElementById("stage"), liveMode: true, mouseTail: false,
      useVirtualDom: false, pauseAnimation: false, showWarning: false, UNSAFE_replayCanvas: true,
      insertStyleRules: STYLE, plugins: [{ onBuild: watch }],
    });
    replayer.mouse.style.display = "none";
    replayer.handleResize({ width: windowWidth, height: windowHeight });
    fit();
  }

  // --- animations ------------------------------------------------------------------------------

  function* roots() {
    const page = replayer.iframe.contentDocument;
    if (page) yield page;
    for (const host of hosts) {
      if (!host.isConnected) {
        hosts.delete(host);
        continue;
      }
      if (host.shadowRoot) yield host.shadowRoot;
      const inner = host.contentDocument;
      if (inner) yield inner;
    }
  }

  function held(animation) {
    const target = animation.effect && animation.effect.target;
    if (!(animation instanceof target.ownerDocument.defaultView.CSSAnimation)) return false;
    const style = target.ownerDocument.defaultView.getComputedStyle(
      target, animation.effect.pseudoElement,
    );
    return style.animationPlayState.split(",").every((state) => state.trim() === "paused");
  }

  const EITHER = (a, b) => (a < 0 || b < 0 ? -1 : Math.max(a, b));

  // Sets every animation to the session's time. Answers 0 if none is under way, -1 if one ends
  // some time, and the longest round in milliseconds if all repeat for ever.
  function pin(time) {
    let live = 0;
    let count = 0;
    for (const root of roots()) {
      for (const animation of root.getAnimations()) {
        if (++count > PINNED_MAX || !animation.effect || !animation.effect.target) continue;
        live = EITHER(live, advance(animation, time));
      }
    }
    for (const part of moving) if (!part.isConnected) moving.delete(part);
    for (const drawing of new Set([...moving].map((part) => part.ownerSVGElement))) {
      if (!drawing) continue;
      if (!drawing.animationsPaused()) drawing.pauseAnimations();
      if (!clocks.has(drawing)) clocks.set(drawing, time);
      drawing.setCurrentTime((time - clocks.get(drawing)) / 1000);
      live = -1;
    }
    return live;
  }

  function advance(animation, time) {
    let clock = clocks.get(animation);
    if (!clock) {
      clock = [0, time];
      clocks.set(animation, clock);
    }
    try {
      const paused = held(animation);
      if (!paused) clock[0] += time - clock[1];
      clock[1] = time;
      if (animation.playState === "finished" || animation.playState === "idle") return 0;
      const timing = animation.effect.getComputedTiming();
      if (clock[0] >= timing.endTime) {
        animation.finish();
        return 0;
      }
      if (animation.playState !== "paused") animation.pause();
      animation.currentTime = clock[0];
      if (paused) return 0;
      const round = timing.duration * (timing.direction.startsWith("alternate") ? 2 : 1);
      return timing.endTime === Infinity && clock[0] >= timing.delay ? Math.max(1, round) : -1;
    } catch {
      return 0;
    }
  }

  // --- events ----------------------------------------------------------------------------------

  function cleanse(event, canvases) {
    const data = event.data;
    if (event.type === 2) {
      Cleanse.tree(data.node, canvases);
      pictures = new Set();
      hosts = new Set();
      moving = new Set();
      scrolls = new Map();
      adopting = new Map();
      hovered = null;
      replayer.imageMap.clear();
      replayer.resetCache();
    } else if (event.type === 3 && data.source === 0) {
      for (const add of data.adds || []) {
        Cleanse.tree(add.node, canvases);
        // A frame is attached empty first and filled later under the same id.
        if (add.node && add.node.type === 0) {
          const empty = replayer.mirror.getNode(add.node.id);
          if (empty) replayer.mirror.removeNodeFromMap(empty);
        }
      }
      for (const change of data.attributes || []) {
        const node = replayer.mirror.getNode(change.id);
        Cleanse.attributes(node ? node.nodeName.toLowerCase() : "", change.attributes || {});
        if (node) watch(node);
      }
      for (const list of ["adds", "removes", "texts", "attributes"]) data[list] = data[list] || [];
    } else if (event.type === 3 && data.source === 9) {
      Cleanse.canvas(data);
    }
  }

  function adopt() {
    for (const [id, sheets] of adopting) {
      const known = sheets.filter((sheet) => replayer.styleMirror.getStyle(sheet) !== null);
      if (known.length === sheets.length) adopting.delete(id);
      replayer.applyAdoptedStyleSheet({ id, styleIds: known });
    }
  }

  async function cast(event) {
    const canvases = [];
    cleanse(event, canvases);
    const drawn = event.type === 3 && event.data.source === 9;
    if (drawn) await replayer.deserializeAndPreloadCanvasEvents(event.data, event);
    const later = window.setTimeout;
    window.setTimeout = () => 0; // what the replayer puts off is for those who watch live
    try {
      replayer.getCastFn(event, false)();
    } catch (error) {
      if (errors.length < 20) errors.push(String(error));
    } finally {
      window.setTimeout = later;
    }
    if (drawn) {
      await turn();
      replayer.canvasEventMap.delete(event);
    }
    if (event.type === 3 && event.data.source === 15 && Array.isArray(event.data.styleIds)) {
      adopting.set(event.data.id, event.data.styleIds);
      adopt();
    }
    // A tree that is attached to an element which is there already.
    for (const add of (event.type === 3 && event.data.adds) || []) {
      const parent = add.node && add.node.isShadow && replayer.mirror.getNode(add.parentId);
      if (parent) watch(parent);
    }
    if (event.type === 3 && event.data.source === 3) scrolls.set(event.data.id, event.data);
    for (const [id, url] of canvases) await paint(replayer.mirror.getNode(id), url);
  }

  async function paint(canvas, url) {
    const picture = new Image();
    const done = new Promise((over) => (picture.onload = picture.onerror = over));
    picture.src = url;
    await Promise.race([done, new Promise((over) => setTimeout(over, SETTLE_MS))]);
    const context = canvas && canvas.getContext && canvas.getContext("2d");
    if (context && picture.naturalWidth) context.drawImage(picture, 0, 0);
  }

  // A style that comes later can make room for a scroll that came before.
  function scroll() {
    for (const [id, wanted] of scrolls) {
      const node = replayer.mirror.getNode(id);
      const box = node && node.nodeType === 9 ? node.scrollingElement : node;
      const there = (at) => Math.abs(at.scrollTop - wanted.y) <= 1 && Math.abs(at.scrollLeft - wanted.x) <= 1;
      if (!box || there(box) || scrolls.size > PENDING_MAX) scrolls.delete(id);
      else replayer.applyScroll(wanted, true);
    }
  }

  async function settle() {
    const waits = [];
    for (const picture of pictures) {
      pictures.delete(picture);
      if (!picture.isConnected || picture.complete !== false) continue;
      waits.push(new Promise((over) => {
        picture.addEventListener("load", over, { once: true });
        picture.addEventListener("error", over, { once: true });
      }));
    }
    for (const root of roots())
      if (root.fonts && root.fonts.status === "loading") waits.push(root.fonts.ready);
    const limit = new Promise((over) => setTimeout(over, SETTLE_MS));
    if (waits.length) await Promise.race([Promise.all(waits), limit]);
  }

  // --- the frame around ------------------------------------------------------------------------

  function fit() {
    const frame = replayer.iframe;
    const width = Number.parseFloat(frame.getAttribute("width")) || size[0];
    const height = Number.parseFloat(frame.getAttribute("height")) || size[1];
    let scale = Math.min(size[0] / width, size[1] / height);
    // One pixel of rounding to even sizes is cut or left, not scaled.
    if (Math.abs(size[0] - width) <= 1 && Math.abs(size[1] - height) <= 1) scale = 1;
    const left = Math.max(0, Math.round((size[0] - width * scale) / 2));
    const top = Math.max(0, Math.round((size[1] - height * scale) / 2));
    const style = replayer.wrapper.style;
    style.transform = scale === 1 ? "none" : `scale(${scale})`;
    style.left = `${left}px`;
    style.top = `${top}px`;
    return [scale, left, top];
  }

  // Where the origin of a node's document lies in the recorded page.
  function origin(node) {
    let [x, y] = [0, 0];
    let view = node && node.ownerDocument && node.ownerDocument.defaultView;
    for (let depth = 0; view && view !== replayer.iframe.contentWindow && depth < 20; depth++) {
      const frame = view.frameElement;
      if (!frame) break;
      const box = frame.getBoundingClientRect();
      x += box.left + frame.clientLeft;
      y += box.top + frame.clientTop;
      view = frame.ownerDocument.defaultView;
    }
    return [x, y];
  }

  function hover(id) {
    hovered = replayer.mirror.getNode(id);
    if (hovered && typeof hovered.getRootNode === "function") replayer.hoverElements(hovered);
  }

  // Drawings begin to move when their document is complete, and the replayer leaves it open;
  // to close it afterwards would put it into quirks mode.
  function completeOnOpen(page) {
    if (Object.hasOwn(page, "open")) return;
    page.open = (...given) => {
      const opened = Document.prototype.open.apply(page, given);
      page.write("<!DOCTYPE html>");
      page.close();
      page.replaceChildren();
      return opened;
    };
  }

  // Brings the page to a time. `text` is a JSON array of events and of node ids pointed at.
  async function step(time, text) {
    for (const root of roots()) if (root.nodeType === 9) completeOnOpen(root);
    pin(time);
    const events = text ? JSON.parse(Cleanse.stills(text)) : [];
    for (const event of events) {
      if (typeof event === "number") hover(event);
      else if (!(event.type === 3 && event.data && MOVES.has(event.data.source))) await cast(event);
    }
    let live = pin(time);
    if (events.some((event) => typeof event !== "number")) {
      await turn();
      await settle();
      scroll();
      live = pin(time);
    }
    for (const root of roots()) if (root.documentElement) root.documentElement.offsetHeight;
    return [live, ...fit(), ...origin(hovered)];
  }

  return { start, step, errors };
})();
