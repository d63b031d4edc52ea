"""A constraint inside `transformers.generate`: batches, beams and samples, with the real model."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import torch

from constrain import ConstraintLogitsProcessor, compile_choices, compile_regex, compile_schema
from constrain.decoding.model import LanguageModel, ModelSpec, load_model
from constrain.errors import MatcherError
from constrain.tables import CompiledConstraint

pytestmark = pytest.mark.model

SCHEMA = {
    "type": "object",
    "properties": {
        "colour": {"enum": ["red", "green", "blue"]},
        "count": {"type": "integer", "minimum": 0, "maximum": 99},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 2},
    },
    "required": ["colour", "count"],
    "additionalProperties": False,
}
PROMPTS = [
    f"Describe {thing} as JSON: "
    for thing in (
        "a rose",
        "the sea",
        "grass",
        "two apples",
        "blood",
        "the sky at noon",
        "a leaf",
        "nine",
    )
]


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return load_model(ModelSpec(device="cpu", dtype="float32"))


@pytest.fixture(scope="module")
def constraint(model: LanguageModel) -> CompiledConstraint:
    return compile_schema(SCHEMA, model.vocabulary)


def _inputs(model: LanguageModel, prompts: list[str]) -> dict[str, torch.Tensor]:
    ids = [model.tokenizer.encode(prompt) for prompt in prompts]
    width, pad = max(map(len, ids)), model.vocabulary.eos_ids[0]
    padded = [[pad] * (width - len(row)) + row for row in ids]
    kept = [[0] * (width - len(row)) + [1] * len(row) for row in ids]
    return {"input_ids": torch.tensor(padded), "attention_mask": torch.tensor(kept)}


def _texts(
    model: LanguageModel, processor: ConstraintLogitsProcessor, prompts: list[str], **options: Any
) -> list[str]:
    inputs = _inputs(model, prompts)
    pad = model.vocabulary.eos_ids[0]
    torch.manual_seed(7)
    with torch.inference_mode():
        out = model.module.generate(
            **inputs,
            logits_processor=[processor],
            max_new_tokens=60,
            pad_token_id=pad,
            eos_token_id=list(model.vocabulary.eos_ids),
            **options,
        )
    return [model.tokenizer.decode(row) for row in out[:, inputs["input_ids"].shape[1] :].tolist()]


def _is_valid(text: str) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(json.loads(text))


def test_a_batch_of_unequal_prompts(model: LanguageModel, constraint: CompiledConstraint) -> None:
    processor = ConstraintLogitsProcessor(constraint)
    texts = _texts(model, processor, PROMPTS, do_sample=False)
    assert len(texts) == 8
    assert all(map(_is_valid, texts))
    again = _texts(model, processor, PROMPTS, do_sample=False)
    assert again == texts


def test_beam_search(model: LanguageModel, constraint: CompiledConstraint) -> None:
    texts = _texts(
        model,
        ConstraintLogitsProcessor(constraint),
        PROMPTS[:2],
        num_beams=4,
        num_return_sequences=4,
        do_sample=False,
    )
    assert len(texts) == 8
    assert all(map(_is_valid, texts))


def test_sampling(model: LanguageModel, constraint: CompiledConstraint) -> None:
    texts = _texts(
        model,
        ConstraintLogitsProcessor(constraint),
        PROMPTS[:2],
        do_sample=True,
        temperature=2.0,
        num_return_sequences=4,
    )
    assert len(set(texts)) > 1
    assert all(map(_is_valid, texts))


def test_each_prompt_may_have_a_constraint_of_its_own(model: LanguageModel) -> None:
    choices = compile_choices(["yes", "no"], model.vocabulary)
    digits = compile_regex("[0-9]{3}", model.vocabulary)
    processor = ConstraintLogitsProcessor([choices, digits])
    texts = _texts(model, processor, PROMPTS[:2], num_return_sequences=2, do_sample=True)
    assert set(texts[:2]) <= {"yes", "no"}
    assert all(len(text) == 3 and text.isdigit() for text in texts[2:])


def test_what_cannot_be_is_said(model: LanguageModel, constraint: CompiledConstraint) -> None:
    scores = torch.zeros(3, model.vocabulary.size)
    ids = torch.zeros(3, 4, dtype=torch.long)
    with pytest.raises(MatcherError, match="one for each prompt"):
        ConstraintLogitsProcessor([constraint, constraint])(ids, scores)
    processor = ConstraintLogitsProcessor(constraint)
    processor(ids, scores)
    wrong = torch.cat([ids, torch.full((3, 1), model.tokenizer.encode("x")[0])], 1)
    with pytest.raises(MatcherError, match="although the mask forbids it"):
        processor(wrong, scores)
