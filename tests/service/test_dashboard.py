"""The dashboard as people use it: in a real browser, on a large screen and on a phone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, expect
from tests.service.browser import PAGE_S, Browser, Served, chromium, served
from tests.service.conftest import wait_for

from operant.service.attempts.free import free_task
from operant.service.sessions.session import Session
from operant.testing import FAKE_TEMPLATES, FakeDesktop

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

SIZES = [(1440, 900), (390, 844)]
#: words whose letters stand on more than one line
BROKEN_WORDS = """() => {
  const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode, box = node.parentElement.getBoundingClientRect();
    if (!box.width || ["SCRIPT", "STYLE"].includes(node.parentElement.tagName)) continue;
    for (const word of node.data.matchAll(/[^\\s\\-\\/]+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].filter((one) => one.width > 0).map((one) => Math.round(one.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""
PAGES = ["/", "/wall", "/control", "/tasks", "/episodes", "/training", "/results"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("dashboard")
    with served(
        root, desktops=FakeDesktop.factory, templates=FAKE_TEMPLATES, settings={"desktops": 4}
    ) as found:
        yield found


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Fails the test if the page complained about anything."""
    browser.complaints.clear()
    with browser.page(request.param) as found:
        yield found
    assert browser.complaints == []


@pytest.fixture(autouse=True)
def tidy(service: Served) -> Iterator[None]:
    """A test that fails leaves no desktop behind for the next one."""
    yield
    for session in service.runtime.sessions.list():
        service.runtime.sessions.end(session)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens(page: Page, service: Served, path: str) -> None:
    page.goto(service.url + path)
    expect(page.locator(".op-title")).to_be_visible()
    page.wait_for_timeout(500)  # the timers of the page have had a turn
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 1, f"the page is {wide} px wider than the screen"


def test_a_table_shows_that_there_is_more_to_see_sideways(page: Page, service: Served) -> None:
    page.goto(service.url + "/tasks")
    table = page.locator(".q-table__middle").first
    expect(table).to_contain_text("fake/compute-v1")
    shown = table.evaluate("one => [getComputedStyle(one).overflowX, getComputedStyle(one).backgroundImage]")
    assert shown[0] == "auto"
    assert shown[1].count("linear-gradient") == 4, "shadows at both edges, and covers that scroll along"


def test_nothing_is_where_nothing_is(page: Page, service: Served) -> None:
    page.goto(service.url + "/episodes/0000000000000000")
    expect(page.get_by_role("alert")).to_contain_text("there is no episode")
    page.goto(service.url + "/tasks/fake/nothing-v1")
    expect(page.get_by_role("alert")).to_contain_text("there is no task")
    page.goto(service.url + "/control?session=gone")
    expect(page.get_by_text("There is no desktop 'gone' any more.")).to_be_visible()


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("PUT", "/api/v1/agent/predict", 405, "method_not_allowed"),
        ("DELETE", "/api/v1/training/status", 405, "method_not_allowed"),
    ],
)
def test_the_pages_do_not_swallow_what_the_api_lacks(
    service: Served, method: str, path: str, status: int, code: str
) -> None:
    said = httpx.request(method, service.url + path)
    assert (said.status_code, said.json()["code"]) == (status, code)


def test_a_task_is_watched_and_replayed(page: Page, service: Served) -> None:
    page.goto(service.url + "/tasks")
    page.get_by_text("fake/fill-field-v1").click()
    page.get_by_role("button", name="Watch the oracle").click()
    expect(page.locator("operant-desktop[frames]")).to_be_visible()
    expect(page.locator(".op-pill", has_text="success")).to_be_visible()
    frames = int(page.locator("operant-desktop").get_attribute("frames") or 0)
    assert frames >= 2
    page.get_by_role("link", name="replay").click()
    expect(page.locator(".op-title", has_text="Episode")).to_be_visible()
    expect(page.locator("img[src*='step_0']")).to_be_visible()
    page.get_by_role("button", name="One step on").click()
    expect(page.locator("img[src*='step_1']")).to_be_visible()
    wait_for(lambda: not service.runtime.sessions.list(), 30.0)


def leased(page: Page, service: Served) -> Session:
    before = {session.id for session in service.runtime.sessions.list()}
    page.goto(service.url + "/control")
    page.get_by_role("button", name="New desktop").click()
    expect(page.locator("operant-desktop[frames]")).to_be_visible()
    (session,) = (one for one in service.runtime.sessions.list() if one.id not in before)
    return session


def at(page: Page, session: Session, x: float, y: float) -> tuple[float, float]:
    """Where a pixel of the desktop is on the page."""
    box = page.locator(".od-screen").bounding_box()
    assert box is not None
    return box["x"] + box["width"] * x / session.size.width, box["y"] + box[
        "height"
    ] * y / session.size.height


def test_a_desktop_is_driven_by_hand(page: Page, service: Served) -> None:
    session = leased(page, service)
    page.get_by_role("button", name="galculator").click()
    wait_for(lambda: session.desktop.windows(), 30.0)
    node = session.desktop.accessibility().find(name="7")
    assert node is not None
    assert node.box is not None
    x, y, width, height = node.box
    page.locator(".od-stage").scroll_into_view_if_needed()
    page.mouse.click(*at(page, session, x + width / 2, y + height / 2))
    shown = lambda: session.desktop.accessibility().find("text").text  # type: ignore[union-attr]  # noqa: E731
    wait_for(lambda: shown() == "7", 30.0)
    page.keyboard.type("0+30=")
    wait_for(lambda: shown() == "100", 30.0)
    page.get_by_role("button", name="Hand back").click()
    wait_for(lambda: session.closed, 30.0)


def test_a_drag_moves_a_window(page: Page, service: Served) -> None:
    session = leased(page, service)
    page.get_by_role("button", name="mousepad").click()
    (window,) = wait_for(session.desktop.windows, 30.0)
    page.locator(".od-stage").scroll_into_view_if_needed()
    page.mouse.move(*at(page, session, window.x + 60, window.y - 10))
    page.mouse.down()
    page.mouse.move(*at(page, session, window.x + 160, window.y + 70), steps=5)
    page.mouse.up()
    wait_for(lambda: session.desktop.windows()[0].x > window.x + 50, 30.0)
    service.runtime.sessions.end(session)


def test_text_is_typed_with_the_keyboard_of_a_phone(page: Page, service: Served) -> None:
    session = leased(page, service)
    page.get_by_role("button", name="mousepad").click()
    wait_for(session.desktop.windows, 30.0)
    page.get_by_label("Text to type").fill("Grüße")
    page.get_by_role("button", name="Type the text").click()
    text = lambda: session.desktop.accessibility().find("text").text  # type: ignore[union-attr]  # noqa: E731
    wait_for(lambda: text() == "Grüße", 30.0)
    page.get_by_role("button", name="⌫").click()
    wait_for(lambda: text() == "Grüß", 30.0)
    service.runtime.sessions.end(session)


def test_composed_characters_reach_the_desktop(page: Page, service: Served) -> None:
    """Dead keys, input methods and emoji pickers write into a field; what they compose is typed."""
    session = leased(page, service)
    page.get_by_role("button", name="mousepad").click()
    wait_for(session.desktop.windows, 30.0)
    text = lambda: session.desktop.accessibility().find("text").text  # type: ignore[union-attr]  # noqa: E731
    page.locator(".od-stage").scroll_into_view_if_needed()
    page.mouse.click(*at(page, session, 640, 400))
    page.keyboard.insert_text("Straße ")
    wait_for(lambda: text() == "Straße ", 30.0)
    method = page.context.new_cdp_session(page)
    for part in ("と", "とう", "とうきょう"):
        method.send("Input.imeSetComposition", {"text": part, "selectionStart": 1, "selectionEnd": 1})
    method.send("Input.insertText", {"text": "東京"})
    wait_for(lambda: text() == "Straße 東京", 30.0)
    page.keyboard.insert_text("😀")
    page.keyboard.type("ok")
    wait_for(lambda: text() == "Straße 東京😀ok", 30.0)
    page.keyboard.press("Backspace")
    wait_for(lambda: text() == "Straße 東京😀o", 30.0)
    service.runtime.sessions.end(session)


def test_a_desktop_is_leased_by_name(page: Page, service: Served) -> None:
    page.goto(service.url + "/wall")
    page.get_by_label("Name, if you like").fill("a name")
    page.get_by_role("button", name="New desktop").click()
    expect(page.get_by_text("can't be the name of a session")).to_be_visible()
    page.get_by_label("Name, if you like").fill("letters")
    page.get_by_role("button", name="New desktop").click()
    expect(page.get_by_text("session letters, no agent at work")).to_be_visible()
    service.runtime.sessions.end(service.runtime.sessions.find("letters"))


def test_no_word_is_broken(page: Page, service: Served) -> None:
    """A line ends between words, or after a hyphen or a slash of a name."""
    session = service.runtime.sessions.create()
    words = "Supercalifragilistic instruction with a rather long unbreakablewordinthemiddle of it"
    attempt = service.runtime.attempts.start(
        free_task(words, 1), service.runtime.models.load("done"), deterministic=True, session=session
    )
    assert attempt.wait(60.0)
    service.runtime.sessions.end(session)
    for path in ("/tasks", "/episodes", "/"):
        page.goto(service.url + path)
        expect(page.locator(".op-title")).to_be_visible()
        page.wait_for_timeout(300)
        assert page.evaluate(BROKEN_WORDS) == [], path


def test_a_rate_says_how_many_it_is_about(page: Page, service: Served) -> None:
    service.runtime.metrics.reset()
    for outcome in ("success", "failure", "success", "unverified"):
        service.runtime.metrics.ended("fake/x-v1", "EASY", outcome)
    page.goto(service.url + "/")
    expect(page.locator(".op-card", has_text=re.compile("^Success67% of 3$"))).to_be_visible()


def test_without_a_token_there_is_nothing_to_sign_out_of(page: Page, service: Served) -> None:
    page.goto(service.url + "/")
    expect(page.get_by_role("button", name="Dark or light")).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)


def test_a_person_takes_over_from_the_agent(page: Page, service: Served) -> None:
    session = leased(page, service)
    service.runtime.models.switch("noop")
    page.get_by_label("Instruction").fill("wait for me")
    page.get_by_text("Take over").click()
    wait_for(lambda: session.taken_over, 30.0)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("noop waits for you")).to_be_visible()
    attempt = service.runtime.attempts.find(session.attempt or "")
    assert attempt.steps == []
    page.get_by_text("Take over").click()
    wait_for(lambda: attempt.steps, 30.0)
    page.get_by_role("button", name="Stop").click()
    wait_for(lambda: session.attempt is None, 30.0)
    service.runtime.sessions.end(session)


def test_criteria_in_the_form_decide(page: Page, service: Served) -> None:
    session = leased(page, service)
    service.runtime.models.switch("done")
    page.get_by_label("Instruction").fill("Open the calculator")
    criteria = page.get_by_label("Success criteria (JSON)")
    criteria.fill('{"window_titel": "Calculator"}')
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("did you mean 'window_title'?")).to_be_visible()
    assert all(one.session != session.id for one in service.runtime.attempts.list())
    criteria.fill('{"window_title": "Calculator"')
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("line 1, column 30")).to_be_visible()
    criteria.fill('{"window_title": "Calculator"}')
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("status")).to_contain_text("failure, verified")
    expect(page.get_by_role("alert")).to_have_count(0)
    criteria.fill("")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("status")).to_contain_text("unverified, claimed: the agent says that it is done")
    service.runtime.sessions.end(session)


def test_a_run_is_started_and_stopped(page: Page, service: Served) -> None:
    page.goto(service.url + "/training")
    page.get_by_label("Steps", exact=True).fill("1000000")
    page.get_by_label("Rollout steps").fill("300")
    page.get_by_label("Desktops", exact=True).fill("3")
    _choose(page, "Begin with", "the shipped agent (default)")
    _choose(page, "Tasks", "core/calculator-type-sum-v1")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Start training").click()
    expect(page.locator(".op-pill", has_text="running")).to_be_visible()
    expect(page.locator("canvas").first).to_be_visible()
    run = service.runtime.runs.current()
    assert run is not None
    flags = dict(itertools.pairwise(run.command))
    assert (flags["--rollout-steps"], flags["--num-envs"], flags["--init-from"]) == ("300", "3", "default")
    assert (flags["--tasks"], flags["--suite"]) == ("core/calculator-type-sum-v1", "core")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".op-pill", has_text="stopped")).to_be_visible()
    assert service.runtime.runs.current() is None


def _choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label).click()
    page.get_by_role("option", name=option).click()


def test_a_run_tells_where_it_is_and_why_it_failed(page: Page, service: Served) -> None:
    page.goto(service.url + "/training")
    page.get_by_label("Seed").fill("16")
    page.get_by_role("button", name="Start training").click()
    expect(page.get_by_text("step 312 of 100,000 · 14 episodes · 21% success of the last 14")).to_be_visible()
    expect(page.get_by_text("10.4 steps/s · 2 h 40 min left · collecting 56 of 128")).to_be_visible()
    expect(page.get_by_text("Curves begin with the first update: 56 of 128")).to_be_visible()
    expect(page.locator("canvas").first).to_be_hidden()
    page.get_by_role("button", name="Stop").click()
    wait_for(lambda: service.runtime.runs.current() is None)
    page.get_by_label("Seed").fill("13")
    page.get_by_role("button", name="Start training").click()
    expect(page.get_by_role("alert").filter(has_text="failed: 13 is an unlucky number")).to_be_visible()
    expect(page.get_by_text("Hint: choose another seed", exact=True)).to_be_visible()


def test_the_wall_shows_who_comes_and_goes(page: Page, service: Served) -> None:
    page.goto(service.url + "/wall")
    expect(page.get_by_text("No desktop is in use.")).to_be_visible()
    sessions = [service.runtime.sessions.create() for _ in range(2)]
    expect(page.locator("operant-desktop[frames]")).to_have_count(2)
    service.runtime.sessions.end(sessions[0])
    expect(page.locator("operant-desktop")).to_have_count(1)
    service.runtime.sessions.end(sessions[1])


def test_dark_stays_dark(page: Page, service: Served) -> None:
    page.goto(service.url + "/")
    page.get_by_role("button", name="Dark or light").click()
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))
    page.goto(service.url + "/tasks")
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))


def test_it_can_be_installed(browser: Browser, service: Served) -> None:
    with browser.page(SIZES[1], installable=True) as page:
        page.goto(service.url + "/")
        manifest = page.request.get(service.url + "/manifest.webmanifest").json()
        assert manifest["display"] == "standalone"
        for icon in manifest["icons"]:
            assert page.request.get(service.url + icon["src"]).ok
        active = "navigator.serviceWorker.ready.then((found) => found.active.state === 'activated')"
        page.wait_for_function(active)  # and so does not start while the page closes


def test_a_browser_that_hangs_is_killed(browser: Browser, service: Served) -> None:
    def hang() -> None:
        with browser.page(SIZES[0]) as page:
            page.goto(service.url + "/login")
            page.evaluate("while (true);")

    browser.page_s = 3.0
    try:
        with pytest.raises(PlaywrightError):
            hang()
    finally:
        browser.page_s = PAGE_S
    with browser.page(SIZES[0]) as page:
        page.goto(service.url + "/")
        expect(page.locator(".op-title")).to_be_visible()
