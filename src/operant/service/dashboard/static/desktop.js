// <operant-desktop session="..." control>: a live desktop in a page, over its WebSocket.
// Draws the parts that changed, shows what is being done, and with `control` sends clicks, drags, wheel and keys back.
(() => {
  const HEADER = 12, RETRY_MS = 1500, SHOWN_MS = 1400, DRAG_PX = 5, LONG_PRESS_MS = 550, TYPE_MS = 60, WHEEL_MS = 80;
  const KEYS = {
    Enter: "enter", Backspace: "backspace", Tab: "tab", Escape: "esc", Delete: "delete", Insert: "insert",
    ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", Home: "home", End: "end",
    PageUp: "pageup", PageDown: "pagedown", " ": "space",
  };
  for (let n = 1; n <= 12; n++) KEYS["F" + n] = "f" + n;

  class OperantDesktop extends HTMLElement {
    connectedCallback() {
      if (this.canvas) return;
      this.classList.add("operant-desktop");
      this.innerHTML = '<div class="od-stage"><canvas class="od-screen"></canvas><canvas class="od-overlay"></canvas>' +
        '<div class="od-caption"></div><div class="od-state">connecting…</div></div>';
      [this.canvas, this.overlay, this.caption, this.state] =
        [".od-screen", ".od-overlay", ".od-caption", ".od-state"].map((name) => this.querySelector(name));
      this.marks = [];
      this.pointers = new Map();
      this.frames = 0;
      this.text = "";
      if (this.hasAttribute("control")) this.listen();
      this.connect();
    }

    disconnectedCallback() {
      this.gone = true;
      if (this.socket) this.socket.close();
    }

    connect() {
      const scheme = location.protocol === "https:" ? "wss" : "ws";
      const wish = ["fps", "width", "quality", "encoding"].filter((name) => this.hasAttribute(name))
        .map((name) => name + "=" + encodeURIComponent(this.getAttribute(name))).join("&");
      const name = encodeURIComponent(this.getAttribute("session"));
      this.socket = new WebSocket(`${scheme}://${location.host}/api/v1/sessions/${name}/stream?${wish}`);
      this.socket.binaryType = "arraybuffer";
      this.painting = Promise.resolve();
      this.socket.onmessage = (event) => {
        if (typeof event.data === "string") this.hear(JSON.parse(event.data));
        else this.painting = this.painting.then(() => this.paint(event.data)).catch(() => {});
      };
      this.socket.onclose = (event) => {
        if (this.gone) return;
        if (this.over || event.code === 4404) return this.show("this desktop was handed back", true);
        this.show("connection lost, trying again…");
        setTimeout(() => this.gone || this.connect(), RETRY_MS);
      };
    }

    show(text, over) {
      this.state.textContent = text;
      this.state.style.display = text ? "flex" : "none";
      this.toggleAttribute("over", !!over);
    }

    hear(message) {
      if (message.type === "hello") {
        this.size = [message.width, message.height];
        for (const canvas of [this.canvas, this.overlay]) [canvas.width, canvas.height] = this.size;
      } else if (message.type === "action") {
        this.mark(message);
      } else if (message.type === "closed") {
        this.over = true;
      } else if (message.type === "error") {
        this.say(message.message, true);
      }
      this.dispatchEvent(new CustomEvent("told", { detail: message, bubbles: true }));
    }

    async paint(data) {
      const view = new DataView(data);
      const number = view.getUint32(0);
      const [x, y, width, height] = [4, 6, 8, 10].map((at) => view.getUint16(at));
      const bitmap = await createImageBitmap(new Blob([new Uint8Array(data, HEADER)]));
      this.canvas.getContext("2d").drawImage(bitmap, x, y, width, height);
      bitmap.close();
      this.frames += 1;
      this.setAttribute("frames", this.frames);
      if (this.frames === 1 || this.state.textContent) this.show("");
      this.send({ type: "ack", frame: number });
    }

    send(message) {
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    }

    act(action, secret) {
      this.send({ type: "action", action, secret: !!secret });
    }

    takeOver(on) {
      this.send({ type: "take_over", on });
    }

    // What is being done, drawn over the picture for a moment.

    say(text, warning) {
      this.caption.textContent = text;
      this.caption.classList.toggle("od-warning", !!warning);
      this.caption.style.opacity = 1;
      clearTimeout(this.silence);
      this.silence = setTimeout(() => (this.caption.style.opacity = 0), 2 * SHOWN_MS);
    }

    mark(message) {
      this.say((message.by === "agent" ? "agent: " : "") + message.description);
      const path = message.path || (message.point ? [message.point] : []);
      if (!path.length) return;
      this.marks.push({ path, clicks: message.clicks || 1, by: message.by, until: performance.now() + SHOWN_MS });
      if (this.marks.length === 1) requestAnimationFrame(() => this.drawMarks());
    }

    drawMarks() {
      const now = performance.now(), pen = this.overlay.getContext("2d");
      const [width, height] = this.size || [1, 1];
      pen.clearRect(0, 0, width, height);
      this.marks = this.marks.filter((mark) => mark.until > now);
      for (const mark of this.marks) {
        const left = (mark.until - now) / SHOWN_MS;
        pen.globalAlpha = Math.min(1, 2 * left);
        const points = mark.path.map(([x, y]) => [x * width, y * height]);
        const colour = mark.by === "agent" ? "#e63946" : "#2a9d8f";
        for (const [style, line] of [["#ffffff", 6], [colour, 3]]) {
          pen.strokeStyle = style;
          pen.lineWidth = line;
          pen.beginPath();
          points.forEach(([x, y], index) => (index ? pen.lineTo(x, y) : pen.moveTo(x, y)));
          pen.stroke();
          for (let ring = 0; ring < mark.clicks; ring++) {
            pen.beginPath();
            pen.arc(...points[points.length - 1], 12 + 8 * ring + 10 * (1 - left), 0, 2 * Math.PI);
            pen.stroke();
          }
        }
      }
      pen.globalAlpha = 1;
      if (this.marks.length) requestAnimationFrame(() => this.drawMarks());
    }

    // A person's hands.

    listen() {
      const stage = this.querySelector(".od-stage");
      stage.tabIndex = 0;
      stage.setAttribute("aria-label", "live desktop: click, drag, scroll and type");
      stage.addEventListener("contextmenu", (event) => event.preventDefault());
      stage.addEventListener("pointerdown", (event) => this.down(event, stage));
      stage.addEventListener("pointermove", (event) => this.move(event));
      stage.addEventListener("pointerup", (event) => this.up(event));
      stage.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
      stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      stage.addEventListener("keydown", (event) => this.key(event));
      // Dead keys, input methods and emoji pickers compose characters in editable fields only.
      this.field = document.createElement("textarea");
      this.field.className = "od-keys";
      this.field.tabIndex = -1;
      this.field.setAttribute("aria-label", "text for the desktop");
      for (const name of ["autocomplete", "autocorrect", "autocapitalize"]) this.field.setAttribute(name, "off");
      this.field.spellcheck = false;
      this.field.addEventListener("input", (event) => event.isComposing || this.take());
      this.field.addEventListener("compositionend", () => this.take());
      stage.append(this.field);
      stage.addEventListener("focus", () => this.touched || this.field.focus({ preventScroll: true }));
    }

    take() { // what was written into the field, composed or not
      const text = this.field.value;
      this.field.value = "";
      if (text) this.write(text);
    }

    write(text) {
      this.text += text;
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.flush(), TYPE_MS);
    }

    place(event) {
      const box = this.canvas.getBoundingClientRect();
      const inside = (value) => Math.min(0.99999, Math.max(0, value));
      return [inside((event.clientX - box.left) / box.width), inside((event.clientY - box.top) / box.height)];
    }

    down(event, stage) {
      event.preventDefault();
      this.touched = event.pointerType === "touch"; // a field in focus would open the keyboard of a phone
      (this.touched ? stage : this.field).focus({ preventScroll: true });
      const box = stage.getBoundingClientRect(); // where an input method shows its choices
      [this.field.style.left, this.field.style.top] = [event.clientX - box.left + "px", event.clientY - box.top + "px"];
      this.pointers.set(event.pointerId, {
        button: ["left", "middle", "right"][event.button] || "left", path: [this.place(event)],
        x: event.clientX, y: event.clientY, at: performance.now(), dragged: false, last: event.clientY,
      });
      if (stage.setPointerCapture) stage.setPointerCapture(event.pointerId);
      this.several = this.pointers.size > 1;
    }

    move(event) {
      const held = this.pointers.get(event.pointerId);
      if (!held) return;
      if (this.several) { // two fingers scroll
        const by = Math.round((held.last - event.clientY) / 20);
        if (by) {
          held.last = event.clientY;
          this.act({ kind: "scroll", point: held.path[0], dy: by });
        }
        return;
      }
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) > DRAG_PX) held.dragged = true;
      if (held.dragged && held.path.length < 60) held.path.push(this.place(event));
    }

    up(event) {
      const held = this.pointers.get(event.pointerId);
      if (!held) return;
      this.pointers.delete(event.pointerId);
      if (this.several) {
        if (!this.pointers.size) this.several = false;
        return;
      }
      const now = performance.now(), place = this.place(event), button = held.button;
      if (held.dragged) {
        held.path.push(place);
        this.act({ kind: "drag", path: held.path, button });
        return;
      }
      if (event.pointerType === "touch" && now - held.at > LONG_PRESS_MS)
        return this.act({ kind: "click", point: place, button: "right" });
      const last = this.lastClick;
      const again = last && now - last.at < 400 && Math.hypot(event.clientX - last.x, event.clientY - last.y) < 12;
      this.lastClick = again ? null : { at: now, x: event.clientX, y: event.clientY };
      this.act({ kind: "click", point: place, button, clicks: again ? 2 : 1 });
    }

    wheel(event) {
      event.preventDefault();
      const turned = (this.turned = this.turned || { dx: 0, dy: 0 });
      turned.dx += event.deltaX;
      turned.dy += event.deltaY;
      turned.point = this.place(event);
      if (this.turning) return;
      this.turning = setTimeout(() => {
        const notches = (pixels) => Math.sign(pixels) * Math.ceil(Math.abs(pixels) / 100);
        const [dx, dy] = [notches(this.turned.dx), notches(this.turned.dy)];
        if (dx || dy) this.act({ kind: "scroll", point: this.turned.point, dx, dy });
        this.turned = this.turning = null;
      }, WHEEL_MS);
    }

    key(event) {
      if (["Control", "Shift", "Alt", "Meta", "AltGraph", "Dead", "Process", "Compose", "Unidentified"].includes(event.key)) return;
      if (event.isComposing || event.keyCode === 229) return; // the field is told what comes of it
      const held = [["ctrlKey", "ctrl"], ["altKey", "alt"], ["metaKey", "super"]]
        .filter(([flag]) => event[flag] && !event.getModifierState("AltGraph")).map(([, name]) => name);
      const printable = [...event.key].length === 1;
      if (printable && !held.length) {
        if (event.target === this.field) return; // as what it writes there
        event.preventDefault();
        return this.write(event.key);
      }
      event.preventDefault();
      this.flush();
      const name = KEYS[event.key] || (printable ? event.key.toLowerCase() : null);
      if (!name) return;
      if (event.shiftKey && !printable) held.push("shift");
      this.act({ kind: "key", keys: [...held, name] });
    }

    flush() {
      clearTimeout(this.typing);
      if (this.text) this.act({ kind: "type", text: this.text });
      this.text = "";
    }
  }

  if (!customElements.get("operant-desktop")) customElements.define("operant-desktop", OperantDesktop);
})();
