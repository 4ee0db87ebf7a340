"use strict";
// Everything that comes from episodes is put in as text, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const PAGE = 60;
let shown = PAGE, current = null, position = 0, timer = null;

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}
const words = (outcome) => outcome.replace("_", " ");
const url = (path) => path.split("/").map(encodeURIComponent).join("/");

// Gallery.

function fill(id, everything, values) {
  $(id).append(new Option(everything, ""), ...[...new Set(values)].sort().map((value) => new Option(words(value), value)));
  $(id).hidden = $(id).options.length < 3;
  $(id).onchange = $("search").oninput;
}
function matching() {
  const text = $("search").value.toLowerCase();
  return data.filter((one) =>
    (!$("agent").value || one.agent === $("agent").value) &&
    (!$("outcome").value || one.outcome === $("outcome").value) &&
    (!$("difficulty").value || one.difficulty === $("difficulty").value) &&
    (!$("app").value || one.apps.includes($("app").value)) &&
    (!text || `${one.task} ${one.instruction} ${one.seed}`.toLowerCase().includes(text)));
}
function card(one) {
  const button = make("button", "episode");
  button.type = "button";
  if (one.thumbnail) {
    const image = make("img");
    image.alt = "";
    image.src = one.thumbnail;
    button.append(image);
  } else {
    button.append(make("span", "blank", "no picture"));
  }
  const text = make("span", "text");
  text.append(make("span", `badge ${one.outcome}`, words(one.outcome)));
  if (one.steps.length) text.append(make("span", "badge plain", `${one.steps.length} step${one.steps.length === 1 ? "" : "s"}`));
  if (one.cost) text.append(make("span", "badge plain", one.cost === "unknown" ? "cost unknown" : one.cost));
  if (data.some((other) => other.agent !== one.agent)) text.append(make("span", "badge plain", one.agent));
  text.append(make("div", "said", one.instruction));
  if (one.why && one.outcome !== "success") text.append(make("div", "found", one.why));
  text.append(make("div", "id", name(one)));
  button.append(text);
  button.onclick = () => open(one);
  return button;
}
const name = (one) => one.task + (one.seed === null ? "" : ` · seed ${one.seed}`);
function draw() {
  const found = matching();
  $("gallery").replaceChildren(...found.slice(0, shown).map(card));
  $("count").textContent = `${found.length} of ${data.length}`;
  $("more").hidden = found.length <= shown;
  $("nothing").hidden = found.length > 0;
}
$("search").oninput = () => { shown = PAGE; draw(); };
$("more").onclick = () => { shown += PAGE; draw(); };
fill("agent", "All agents", data.map((one) => one.agent));
fill("outcome", "All outcomes", data.map((one) => one.outcome));
fill("difficulty", "All difficulties", data.map((one) => one.difficulty));
fill("app", "All applications", data.flatMap((one) => one.apps));
draw();

// Viewer. Position p shows the screen after p actions, with action p + 1 drawn on it.

function open(one) {
  current = one;
  $("badges").replaceChildren(
    make("span", `badge ${one.outcome}`, words(one.outcome)),
    make("span", "badge plain", one.difficulty.toLowerCase()),
    ...one.apps.map((app) => make("span", "badge plain", app)));
  $("name").textContent = `${name(one)} · ${one.agent}`;
  $("instruction").textContent = one.instruction;
  $("why").textContent = one.why;
  $("used").textContent = [one.called, one.used].filter(Boolean).join(" · ");
  const turns = one.steps.some((step, index) => index && step.turn && step.turn === one.steps[index - 1].turn);
  $("steps").replaceChildren(...one.steps.map((step, index) => {
    const line = make("li", "", step.text);
    if (step.who) line.prepend(make("span", "who", step.who));
    if (turns && step.turn) line.prepend(make("span", "turn", `turn ${step.turn}`));
    if (step.invalid) line.append(make("span", "note invalid", step.invalid));
    if (step.response) line.append(make("span", "note", step.response));
    if (step.result) line.append(make("span", "note", step.result));
    if (step.used) line.append(make("span", "note", step.used));
    line.onclick = () => go(index);
    return line;
  }));
  const end = make("li", "end", `end: ${words(one.outcome)}` + (one.end ? ` (${words(one.end)})` : ""));
  end.onclick = () => go(one.steps.length);
  $("steps").append(end);
  $("position").max = one.steps.length;
  $("viewer").showModal();
  go(0);
  location.replace("#" + encodeURIComponent(one.id));
}
function go(where) {
  position = Math.max(0, Math.min(where, current.steps.length));
  const before = position ? current.steps[position - 1].file : current.first;
  const file = current.steps[position]?.before ?? before; // a team acts on several desktops
  $("lost").hidden = Boolean(file);
  $("frame").hidden = !file;
  $("overlay").replaceChildren();
  if (file) $("frame").src = url(file);
  $("position").value = position;
  $("where").textContent = position < current.steps.length ? `${position + 1} / ${current.steps.length}` : "end";
  [...$("steps").children].forEach((line, index) => line.classList.toggle("now", index === position));
  $("steps").children[position].scrollIntoView({ block: "nearest" });
  overlay();
}
function overlay() {
  const svg = $("overlay"), step = current.steps[position];
  svg.replaceChildren();
  const image = $("frame");
  if (!image.naturalWidth || image.hidden) return;
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  Object.assign(svg.style, { left: image.offsetLeft + "px", top: image.offsetTop + "px",
    width: image.offsetWidth + "px", height: image.offsetHeight + "px" });
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (!step || !step.path) return;
  const unit = height / 400, points = step.path.map(([x, y]) => [x * width, y * height]);
  const shape = (tag, attributes) => {
    for (const [colour, more] of [["#ffffffd0", 2 * unit], ["#e63946", 0]]) {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.setAttribute("fill", "none");
      element.setAttribute("stroke", colour);
      element.setAttribute("stroke-width", 2 * unit + more);
      svg.append(element);
    }
  };
  if (points.length > 1) {
    shape("polyline", { points: points.map((point) => point.join(",")).join(" ") });
    shape("circle", { cx: points.at(-1)[0], cy: points.at(-1)[1], r: 3 * unit });
  }
  for (let ring = 0; ring < step.rings; ring++) shape("circle", { cx: points[0][0], cy: points[0][1], r: (8 + 4 * ring) * unit });
}
function stop() { clearInterval(timer); timer = null; $("play").textContent = "Play"; }
$("frame").onload = overlay;
$("frame").onerror = () => { $("frame").hidden = true; $("lost").hidden = false; };
new ResizeObserver(() => { if (current) overlay(); }).observe($("frame"));
$("previous").onclick = () => { stop(); go(position - 1); };
$("next").onclick = () => { stop(); go(position + 1); };
$("position").oninput = () => { stop(); go(Number($("position").value)); };
$("play").onclick = () => {
  if (timer) return stop();
  if (position >= current.steps.length) go(0);
  $("play").textContent = "Pause";
  timer = setInterval(() => { if (position >= current.steps.length) stop(); else go(position + 1); }, 900);
};
$("close").onclick = () => $("viewer").close();
$("viewer").onclick = (event) => { if (event.target === $("viewer")) $("viewer").close(); };
$("viewer").onclose = () => { stop(); current = null; history.replaceState(null, "", location.pathname + location.search); };
$("viewer").onkeydown = (event) => {
  if (event.target === $("position")) return;
  if (event.key === "ArrowLeft") $("previous").click();
  else if (event.key === "ArrowRight") $("next").click();
  else if (event.key === " " && event.target.tagName !== "BUTTON") $("play").click();
  else return;
  event.preventDefault();
};
const wanted = data.find((one) => one.id === decodeURIComponent(location.hash.slice(1)));
if (wanted) open(wanted);
