// The page: one view at a time, chosen by the address.

import { bits } from "./bits";
import { check } from "./check";
import { diff } from "./diff";
import { h } from "./dom";
import { Engine } from "./engine";
import { explain } from "./explain";
import { forms } from "./forms";
import { run } from "./run";
import { address, Shown, type Params, type View } from "./view";
import { why } from "./why";

const VIEWS: View[] = [bits, explain, why, diff, check, forms, run];

const engine = new Engine();
const main = document.getElementById("main");
const links = new Map<string, HTMLAnchorElement>();
let shown: Shown | undefined;

for (const view of VIEWS) {
  const link = h("a", { href: `#${view.id}` }, view.id);
  links.set(view.id, link);
  document.getElementById("views")?.append(h("li", {}, link));
}

/** The question in the address. */
function question(): { view: View; params: Params } {
  const [id = "", search = ""] = location.hash.slice(1).split(/\?(.*)/s);
  const view = VIEWS.find((view) => view.id === id) ?? bits;
  return { view, params: Object.fromEntries(new URLSearchParams(search)) };
}

function show(): void {
  const { view, params } = question();
  if (shown?.view !== view) {
    const moved = shown !== undefined;
    const changed = (params: Params) => {
      const wanted = Object.keys(params).length > 0 ? address(view.id, params) : `#${view.id}`;
      history.replaceState(null, "", wanted);
    };
    shown = new Shown(view, engine, changed);
    main?.replaceChildren(shown.element);
    document.title = `${view.title} · roundonce`;
    for (const [id, link] of links) {
      if (id === view.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (moved) main?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  shown.show(params);
}

addEventListener("hashchange", show);
show();

// Only where the page is served: a file has no service worker.
if ("serviceWorker" in navigator && location.protocol !== "file:") {
  addEventListener("load", () => void navigator.serviceWorker.register("offline.js").catch(() => undefined));
}
