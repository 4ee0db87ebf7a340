"""The policy: probabilities that are right, files that are safe, variants that work."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
import torch

from operant.agents.base import Decision
from operant.agents.hierarchical.agent import DEFAULT, HierarchicalAgent
from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig, ManagerConfig, WorkerConfig
from operant.agents.hierarchical.meta_actions import POINTING
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.errors import CheckpointError, ConfigError
from operant.types import Action, Observation

SMALL = HierarchicalConfig(
    encoder=EncoderConfig(width=32, heads=2, widgets=40, history=6, vocabulary=512, text_layers=1)
)


def screens(observations: list[Observation]) -> list:  # type: ignore[type-arg]
    return [one.screen for one in observations]


def test_the_default_has_at_most_15_million_parameters() -> None:
    assert 1_000_000 < HierarchicalPolicy().parameter_count <= 15_000_000


def test_what_was_sampled_is_judged_the_same(
    policy: HierarchicalPolicy, observations: list[Observation]
) -> None:
    seen = policy.perceive(observations * 4)
    sampled = policy.sample(seen, screens(observations * 4))
    judged = policy.judge(seen, sampled.actions)
    torch.testing.assert_close(judged.log_prob, sampled.log_prob, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(judged.value, sampled.value, atol=1e-5, rtol=1e-4)


def test_company_in_a_batch_changes_nothing(
    policy: HierarchicalPolicy, observations: list[Observation]
) -> None:
    """Padding must not leak: alone or among longer ones, a row has the same probabilities."""
    seen = policy.perceive(observations)
    sampled = policy.sample(seen, screens(observations))
    for row in range(len(observations)):
        alone = policy.judge(
            {name: part[row : row + 1] for name, part in seen.items()},
            {name: part[row : row + 1] for name, part in sampled.actions.items()},
        )
        torch.testing.assert_close(alone.log_prob[0], sampled.log_prob[row], atol=1e-4, rtol=1e-4)


def test_heads_that_a_kind_does_not_use_do_not_count(
    policy: HierarchicalPolicy, observations: list[Observation]
) -> None:
    seen = policy.perceive(observations * 8)
    torch.manual_seed(1)
    actions = policy.sample(seen, screens(observations * 8)).actions
    choices = policy.judge_choices(policy.encoder(seen), seen, actions)
    names = [policy.config.manager.kinds[int(kind)] for kind in actions["kind"]]
    assert len(set(names)) > 5
    uses = {
        "target": POINTING, "offset": POINTING, "end": {"drag"}, "end_offset": {"drag"}, "held": {"drag"}, "scroll": {"scroll"},
        "first": {"type", "answer"}, "last": {"type", "answer"}, "enter": {"type"}, "key": {"key"},
    }  # fmt: skip
    for head, kinds in uses.items():
        for row, name in enumerate(names):
            if name not in kinds:
                assert choices.log_probs[head][row] == 0
                assert choices.entropies[head][row] == 0
    total = sum(choices.log_probs[head] for head in choices.log_probs)
    torch.testing.assert_close(choices.log_prob, total)


def test_the_probabilities_of_all_kinds_sum_to_one(
    policy: HierarchicalPolicy, observations: list[Observation]
) -> None:
    """By brute force: every kind, and for keys every key."""
    seen = policy.perceive(observations[:1])
    base = policy.sample(seen, screens(observations[:1])).actions
    base["refined"] = torch.zeros_like(base["refined"])  # a key is not pointed
    key = policy.config.manager.kinds.index("key")
    by_kind, by_key = 0.0, 0.0
    for kind in range(len(policy.config.manager.kinds)):
        actions = dict(base, kind=torch.tensor([kind]))
        choices = policy.judge_choices(policy.encoder(seen), seen, actions)
        by_kind += float(choices.log_probs["kind"].exp())
        if kind == key:
            for index in range(len(policy.config.manager.keys)):
                judged = policy.judge(seen, dict(actions, key=torch.tensor([index])))
                by_key += float(judged.log_prob.exp())
            assert by_key == pytest.approx(float(choices.log_probs["kind"].exp()), rel=1e-3)
    assert by_kind == pytest.approx(1.0, abs=1e-4)


def test_deterministic_is_deterministic_and_sampling_follows_its_generator(
    policy: HierarchicalPolicy, observations: list[Observation]
) -> None:
    assert policy.act(observations, deterministic=True) == policy.act(observations, deterministic=True)
    assert isinstance(policy.act(observations[0]), Action)
    seen = policy.perceive(observations)
    draws = [
        policy.sample(seen, screens(observations), generator=torch.Generator().manual_seed(seed)).actions
        for seed in (5, 5, 6)
    ]
    assert torch.equal(draws[0]["kind"], draws[1]["kind"])
    assert any(not torch.equal(draws[0][name], draws[2][name]) for name in ("kind", "target", "offset"))


@pytest.mark.parametrize(
    "config",
    [
        SMALL.model_copy(update={"manager": ManagerConfig(pointing="gaussian")}),
        SMALL.model_copy(update={"worker": WorkerConfig(refine=False)}),
        HierarchicalConfig(encoder=EncoderConfig(width=32, heads=2, widgets=0, history=0, vocabulary=512)),
        HierarchicalConfig(encoder=SMALL.encoder.model_copy(update={"use_instruction": False})),
        HierarchicalConfig(encoder=SMALL.encoder.model_copy(update={"vision": "efficientnet_b0"})),
        HierarchicalConfig(encoder=SMALL.encoder.model_copy(update={"vision": "mobilenet_v3_small"})),
    ],
    ids=["gaussian", "no worker", "pixels only", "no instruction", "efficientnet", "mobilenet"],
)
def test_every_variant_acts_and_learns(config: HierarchicalConfig, observations: list[Observation]) -> None:
    policy = HierarchicalPolicy(config).eval()
    seen = policy.perceive(observations)
    sampled = policy.sample(seen, screens(observations))
    assert len(policy.to_environment(sampled.actions)) == len(observations)
    judged = policy.judge(seen, sampled.actions)
    torch.testing.assert_close(judged.log_prob, sampled.log_prob, atol=1e-3, rtol=1e-3)
    (judged.log_prob.sum() + judged.value.sum()).backward()  # type: ignore[no-untyped-call]
    gradients = [part.grad for part in policy.encoder.vision.parameters() if part.grad is not None]
    assert gradients
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


def test_gradient_checkpointing_computes_the_same(observations: list[Observation]) -> None:
    gradients = []
    for on in (False, True):
        torch.manual_seed(0)
        policy = HierarchicalPolicy(SMALL).train()
        policy.gradient_checkpointing(on)
        seen = policy.perceive(observations)
        torch.manual_seed(1)
        actions = policy.sample(seen, screens(observations)).actions
        policy.judge(seen, actions).log_prob.sum().backward()  # type: ignore[no-untyped-call]
        gradients.append(policy.encoder.role.weight.grad)
    torch.testing.assert_close(gradients[0], gradients[1])


# Files.


def test_a_saved_policy_acts_the_same(
    policy: HierarchicalPolicy, observations: list[Observation], tmp_path: Path
) -> None:
    policy.save(tmp_path / "a" / "agent.pt")
    again = HierarchicalPolicy.from_checkpoint(tmp_path / "a" / "agent.pt")
    assert again.config == policy.config
    assert again.fingerprint == policy.fingerprint
    assert again.act(observations) == policy.act(observations)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["agent.pt"]


def test_half_the_size_is_nearly_the_same(
    policy: HierarchicalPolicy, observations: list[Observation], tmp_path: Path
) -> None:
    policy.save(tmp_path / "whole.pt")
    policy.save(tmp_path / "half.pt", half=True)
    assert (tmp_path / "half.pt").stat().st_size < 0.6 * (tmp_path / "whole.pt").stat().st_size
    again = HierarchicalPolicy.from_checkpoint(tmp_path / "half.pt")
    seen = policy.perceive(observations)
    torch.testing.assert_close(again.value(seen), policy.value(seen), atol=1e-2, rtol=1e-2)


def test_the_agent_that_comes_with_the_package_plays(observations: list[Observation]) -> None:
    agent = HierarchicalAgent()
    assert DEFAULT.stat().st_size <= 25 * 1024 * 1024
    assert agent.policy.parameter_count <= 15_000_000
    decision = agent.act(observations[0])
    assert isinstance(decision, Decision)
    assert 0.0 <= decision.record["confidence"] <= 1.0
    both = agent.act_all(observations[:3], deterministic=[True, False, True])
    assert len(both) == 3


class Malicious:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(Path(os.environ["MALICIOUS"])),)


def test_a_malicious_file_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALICIOUS", str(tmp_path / "owned"))
    torch.save({"format": "operant-hierarchical", "weights": Malicious()}, tmp_path / "bad.pt")
    (tmp_path / "raw.pt").write_bytes(pickle.dumps(Malicious()))
    for name in ("bad.pt", "raw.pt"):
        with pytest.raises(CheckpointError):
            HierarchicalPolicy.from_checkpoint(tmp_path / name)
    assert not (tmp_path / "owned").exists()


def test_files_that_are_no_checkpoint_say_so(policy: HierarchicalPolicy, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint"):
        HierarchicalPolicy.from_checkpoint(tmp_path / "absent.pt")
    (tmp_path / "noise.pt").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(CheckpointError, match="is damaged"):
        HierarchicalPolicy.from_checkpoint(tmp_path / "noise.pt")
    torch.save({"some": "thing"}, tmp_path / "other.pt")
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        HierarchicalPolicy.from_checkpoint(tmp_path / "other.pt")
    torch.save({**policy.state(), "version": 99}, tmp_path / "future.pt")
    with pytest.raises(CheckpointError, match="version 99"):
        HierarchicalPolicy.from_checkpoint(tmp_path / "future.pt")
    wider = SMALL.model_copy(update={"encoder": SMALL.encoder.model_copy(update={"width": 64})})
    torch.save({**policy.state(), "config": wider.model_dump_json()}, tmp_path / "wider.pt")
    with pytest.raises(CheckpointError, match="another network"):
        HierarchicalPolicy.from_checkpoint(tmp_path / "wider.pt")
    with pytest.raises(CheckpointError, match="no checkpoint"):
        HierarchicalAgent(tmp_path / "absent.pt")


def test_a_text_model_that_is_not_there_is_a_config_error(tmp_path: Path) -> None:
    config = HierarchicalConfig(encoder=SMALL.encoder.model_copy(update={"text": str(tmp_path / "bert")}))
    with pytest.raises(ConfigError, match=r"encoder\.text"):
        HierarchicalPolicy(config)


class TestLoadInPlace:
    @pytest.fixture
    def path(self, policy: HierarchicalPolicy, tmp_path: Path) -> Path:
        policy.save(tmp_path / "agent.pt")
        return tmp_path / "agent.pt"

    def test_a_default_policy_takes_over_the_shipped_checkpoint(self) -> None:
        shipped = HierarchicalPolicy.from_checkpoint(DEFAULT)
        policy = HierarchicalPolicy()
        assert policy.fingerprint != shipped.fingerprint
        assert policy.load(DEFAULT) is policy
        assert policy.fingerprint == shipped.fingerprint

    def test_a_default_policy_takes_over_other_settings(
        self, policy: HierarchicalPolicy, path: Path, observations: list[Observation]
    ) -> None:
        fresh = HierarchicalPolicy()
        fresh.gradient_checkpointing()
        fresh.load(path)
        assert fresh.config == SMALL
        assert fresh.perception.config == SMALL.encoder
        assert fresh.fingerprint == policy.fingerprint
        assert fresh.encoder.gradient_checkpointing
        assert fresh.training
        assert fresh.eval().act(observations) == policy.act(observations)

    def test_settings_that_were_given_are_kept(self, path: Path) -> None:
        explicit = HierarchicalPolicy(HierarchicalConfig())
        before = explicit.fingerprint
        with pytest.raises(CheckpointError, match="other settings") as caught:
            explicit.load(path)
        for told in ("encoder.width is 32 there and 128 here", "encoder.vocabulary is 512 there"):
            assert told in caught.value.message
        assert caught.value.hint is not None
        assert "from_checkpoint" in caught.value.hint
        assert explicit.fingerprint == before

    def test_only_the_first_checkpoint_decides_the_settings(self, path: Path) -> None:
        fresh = HierarchicalPolicy().load(path)
        before = fresh.fingerprint
        with pytest.raises(CheckpointError, match="other settings"):
            fresh.load(DEFAULT)
        assert fresh.fingerprint == before

    def test_the_parameters_stay_the_same_objects(self, path: Path) -> None:
        """An optimiser that has them goes on with the loaded weights."""
        policy = HierarchicalPolicy(SMALL)
        before = list(policy.parameters())
        policy.load(path)
        assert all(one is other for one, other in zip(before, policy.parameters(), strict=True))

    @pytest.mark.parametrize("fresh", [True, False], ids=["default", "configured"])
    def test_weights_with_missing_or_extra_names(
        self, policy: HierarchicalPolicy, tmp_path: Path, fresh: bool
    ) -> None:
        mine = HierarchicalPolicy(None if fresh else SMALL)
        before = mine.fingerprint
        state = policy.state()
        name = next(iter(state["weights"]))
        state["weights"]["intruder"] = state["weights"].pop(name)
        torch.save(state, tmp_path / "edited.pt")
        with pytest.raises(CheckpointError, match=f"lacks {name}; it also has intruder") as caught:
            mine.load(tmp_path / "edited.pt")
        assert caught.value.hint
        assert mine.fingerprint == before
        assert mine.config == (HierarchicalConfig() if fresh else SMALL)
        for weights in (None, [1, 2]):
            torch.save({**state, "weights": weights}, tmp_path / "empty.pt")
            with pytest.raises(CheckpointError, match="no weights by name"):
                mine.load(tmp_path / "empty.pt")

    def test_a_device_that_is_not_there(self, path: Path) -> None:
        if torch.cuda.is_available():
            pytest.skip("there is one")
        with pytest.raises(ConfigError, match="no device cuda"):
            HierarchicalPolicy().load(path, device="cuda")
        with pytest.raises(ConfigError, match="no device cuda"):
            HierarchicalPolicy.from_checkpoint(path, device="cuda")
