// Makes the dashboard installable. Everything is live, so nothing is kept but a word for when there is no connection.
const OFFLINE = "<!doctype html><meta name=viewport content='width=device-width'><title>Operant</title>" +
  "<body style='font-family:system-ui;display:grid;place-items:center;height:90vh'>No connection to the service.";
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate") return;
  event.respondWith(fetch(event.request).catch(() => new Response(OFFLINE, { headers: { "content-type": "text/html" } })));
});
