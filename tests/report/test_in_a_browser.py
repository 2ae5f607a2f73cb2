"""The page in headless Chromium: it works, and it talks to no one."""

import pytest

from scedae.report import write_report
from tests.helpers import ESTIMATORS


@pytest.fixture
def opened(browser):
    """Opens a page; at the end nothing may have gone wrong in it."""
    pages, troubles = [], []

    def open_page(path, width=1280, height=900, **options):
        page = browser.new_page(viewport={"width": width, "height": height}, **options)
        pages.append(page)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        address = path.as_uri()
        page.on(
            "request",
            lambda request: (
                request.url == address
                or request.url.startswith("data:")
                or troubles.append(request.url)
            ),
        )
        page.goto(address)
        page.wait_for_timeout(200)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert troubles == []


def ink(page):
    """How many pixels of the map are not empty."""
    return page.evaluate(
        """() => {
            const plot = document.querySelector("#plot");
            // A copy: reading the map itself would make the browser complain.
            const copy = new OffscreenCanvas(plot.width, plot.height);
            const pen = copy.getContext("2d", { willReadFrequently: true });
            pen.drawImage(plot, 0, 0);
            const pixels = pen.getImageData(0, 0, copy.width, copy.height).data;
            return pixels.filter((value, i) => i % 4 === 3 && value > 128).length;
        }"""
    )


def hover_over_a_point(page):
    """Move the mouse over the map until something is under it."""
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot").bounding_box()
    for y in range(12, int(box["height"]), 16):
        for x in range(12, int(box["width"]), 16):
            page.mouse.move(box["x"] + x, box["y"] + y)
            if page.locator("#tip").is_visible():
                return
    raise AssertionError("no point was found under the mouse")


def test_points_are_drawn_and_hover_tells_of_one(digits_page, opened):
    page = opened(digits_page)
    assert ink(page) > 1000
    hover_over_a_point(page)
    tip = page.locator("#tip")
    assert "confidence" in tip.inner_text() and "Row" in tip.inner_text()
    assert tip.locator(".picture").bounding_box()["width"] > 80


def test_a_cluster_is_selected_in_the_legend_or_by_its_card(digits_page, opened):
    page = opened(digits_page)
    before = ink(page)
    page.click('.legend [data-cluster="3"]')
    page.wait_for_timeout(100)
    assert page.locator("#cluster-3").evaluate("e => e.matches('.selected')")
    assert page.locator(".card.selected").count() == 1
    assert 0 < ink(page) < before / 2
    page.click('#cluster-4 [data-cluster="4"]')
    assert page.locator(".card.selected").get_attribute("id") == "cluster-4"
    page.click("#clear")
    page.wait_for_timeout(100)
    assert page.locator(".card.selected").count() == 0
    assert ink(page) == before


def test_the_other_map_and_zoom(digits_page, opened):
    page = opened(digits_page)
    before = page.locator("#plot").screenshot()
    page.click('[data-map="1"]')
    page.wait_for_timeout(100)
    other = page.locator("#plot").screenshot()
    assert other != before
    assert page.locator('[data-note="1"]').is_visible()
    page.click('[aria-label="Zoom in"]')
    page.locator("#plot").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.mouse.move(0, 0)
    page.wait_for_timeout(100)
    assert page.locator("#plot").screenshot() != other
    page.click('[aria-label="Show all"]')
    page.wait_for_timeout(100)
    assert page.locator("#plot").screenshot() == other


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_is_that_of_the_system_until_it_is_switched(
    digits_page, opened, scheme
):
    page = opened(digits_page, color_scheme=scheme)

    def is_dark():
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, color[4:-1].split(","))) < 384

    assert is_dark() == (scheme == "dark")
    page.click("#theme")
    assert is_dark() == (scheme == "light")
    page.click("#theme")
    assert is_dark() == (scheme == "dark")


@pytest.mark.parametrize("width", [320, 390, 800])
def test_nothing_is_wider_than_a_phone(digits_page, opened, width):
    page = opened(digits_page, width=width, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_tap_tells_of_a_point(digits_page, opened):
    page = opened(digits_page, width=390, height=844, has_touch=True)
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot").bounding_box()
    for y in range(12, int(box["height"]), 30):
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + y)
        if page.locator("#tip").is_visible():
            return
    raise AssertionError("no tap met a point")


def test_nasty_names_do_nothing(blobs, opened, tmp_path):
    X, _ = blobs
    nasty = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'"
    model = ESTIMATORS["LandmarkSpectralClustering"]().fit(X)
    path = tmp_path / "nasty.html"
    write_report(
        model,
        X,
        path,
        ids=[f"{i}{nasty}" for i in range(len(X))],
        columns=[f"{nasty}{j}" for j in range(X.shape[1])],
        info={"data": "nasty", "command": nasty},
    )
    page = opened(path, width=390, height=844)
    hover_over_a_point(page)
    assert nasty[:20] in page.locator("#tip").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_slider_colours_by_layers(digits_page, opened):
    page = opened(digits_page)
    before = page.locator("#plot").screenshot()
    page.locator("#layer").fill("4")
    page.wait_for_timeout(100)
    assert page.locator("#layer-number").inner_text() == "4"
    assert page.locator("#key span").count() == 4
    assert page.locator("#plot").screenshot() != before
    page.select_option("#color", "cluster")
    page.wait_for_timeout(100)
    assert page.locator("#layer-number").inner_text() == "10"
    assert page.locator("#plot").screenshot() == before
