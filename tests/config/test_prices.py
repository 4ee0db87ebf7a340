"""Tables of prices: which line is meant, what is refused, and where each shipped price was read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from operant.config.prices import Prices, PriceTable, find_prices
from operant.errors import ConfigError

CHEAP = Prices(input=1, cached=0.1, output=5)


def table(tmp_path: Path, text: str) -> PriceTable:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    return PriceTable.read(file)


def test_each_kind_of_token_has_its_price() -> None:
    prices = Prices(input=2, cached=0.2, output=10, written=2.5)
    tokens = {"input_tokens": 1000, "cached_tokens": 600, "written_tokens": 300, "output_tokens": 50}
    assert prices.cost(**tokens) == pytest.approx((100 * 2 + 600 * 0.2 + 300 * 2.5 + 50 * 10) / 1e6)
    plain = Prices(input=2, cached=0.2, output=10)
    assert plain.cost(**tokens) == pytest.approx((400 * 2 + 600 * 0.2 + 50 * 10) / 1e6)


def test_an_exact_name_wins_over_patterns_and_the_longest_pattern_over_others(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        """
        "*": {input: 1, cached: 1, output: 1}
        "chat:*": {input: 2, cached: 2, output: 2}
        "chat:llama-*": {input: 3, cached: 3, output: 3}
        llama-9b: {input: 4, cached: 4, output: 4}
        """,
    )
    asked = [("chat", "llama-9b"), ("chat", "llama-70b"), ("chat", "qwen"), ("openai", "gpt")]
    assert [found.find(*one).input for one in asked] == [4, 3, 2, 1]  # type: ignore[union-attr]


@pytest.mark.parametrize("snapshot", ["claude-opus-4-5-20251101", "claude-opus-4-5-2025-11-01"])
def test_a_dated_snapshot_costs_what_its_model_costs(snapshot: str) -> None:
    assert find_prices("anthropic", snapshot) == find_prices("anthropic", "claude-opus-4-5") is not None


@pytest.mark.parametrize("model", ["gpt-5.4-pro", "claude-opus-5-9", "claude-haiku-5-5", "my-model"])
def test_what_is_not_listed_is_unknown_and_never_taken_for_its_neighbour(model: str) -> None:
    assert (
        find_prices("openai", model) is find_prices("anthropic", model) is find_prices("chat", model) is None
    )


def test_the_users_table_comes_first_and_the_vendors_list_holds_for_its_own_server_only() -> None:
    own = PriceTable({"gpt-5.4": CHEAP})
    assert find_prices("openai", "gpt-5.4", own) == CHEAP
    assert find_prices("openai", "gpt-5.5", own) == PriceTable.shipped().prices["openai:gpt-5.5"]
    assert find_prices("openai", "gpt-5.5", own, elsewhere=True) is None
    assert find_prices("openai", "gpt-5.4", own, elsewhere=True) == CHEAP
    assert find_prices("chat", "gpt-5.5") is None, "any server may call its model so"


def test_every_shipped_price_says_where_and_when_it_was_read() -> None:
    shipped = PriceTable.shipped().prices
    assert shipped
    for name, prices in shipped.items():
        assert re.search(r"(read|as of) 20\d\d-\d\d-\d\d$", prices.source), name
        assert prices.cached < prices.input < prices.output, name
        assert prices.written is None or prices.written > prices.input, name


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("m: {input: 1, output: 2}", "m: cached", ""),
        ("m: {input: -1, cached: 0, output: 2}", "input must be at least 0", ""),
        ("m: {input: .nan, cached: 0, output: 2}", "finite number", ""),
        ("m: {input: 1, cached: 0, outputs: 2}", "outputs is not a setting", "output"),
        ("m: 3", "m has no prices", "cached"),
        ("- m", "holds no settings", ""),
        ("m: {", "not YAML", ""),
    ],
)
def test_a_table_that_can_not_be_used_is_told_in_one_line(
    tmp_path: Path, text: str, said: str, hint: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as told:
        table(tmp_path, text)
    assert "prices.yaml" in told.value.message
    assert hint in (told.value.hint or "")


def test_a_table_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        PriceTable.read(tmp_path / "none.yaml")
