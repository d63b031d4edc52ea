"""Invoices as Pydantic models: `constrain extract --schema schemas/invoice.py:InvoiceFile`.

The models' types and bounds become the constraint. What a mask cannot express, here that an
invoice adds up, is checked by the validators after generation: the record is then `invalid`,
keeps its value, and lists the validator's message among its errors.
"""

import datetime as dt
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["Invoice", "InvoiceFile", "Line"]

Name = Annotated[str, Field(min_length=1, max_length=80)]
Money = Annotated[float, Field(ge=0, le=1_000_000)]


class Line(BaseModel):
    """One line of an invoice."""

    model_config = ConfigDict(extra="forbid")

    description: Name = Field(description="What was delivered")
    quantity: float = Field(gt=0, le=10_000, description="How many")
    unit_price: Money = Field(description="Price of one")
    amount: Money = Field(description="Price of the line")


class Invoice(BaseModel):
    """One invoice; its lines and its tax add up to its total."""

    model_config = ConfigDict(extra="forbid")

    number: str = Field(min_length=1, max_length=30, description="Invoice number")
    date: dt.date = Field(description="Day of issue")
    seller: Name = Field(description="Who sends the invoice")
    buyer: Name = Field(description="Who pays")
    currency: Literal["EUR", "GBP", "USD", "CHF"] = Field(description="Currency code")
    lines: list[Line] = Field(min_length=1, max_length=20, description="Goods and services")
    tax: Money = Field(description="Tax of the whole invoice")
    total: Money = Field(description="Amount due, with tax")

    @model_validator(mode="after")
    def total_is_the_sum(self) -> Self:
        """Refuse an invoice whose lines and tax do not add up to its total, to the cent."""
        expected = sum(line.amount for line in self.lines) + self.tax
        if round(expected - self.total, 2) != 0:
            message = f"total is {self.total:.2f}, but lines and tax add up to {expected:.2f}"
            raise ValueError(message)
        return self


class InvoiceFile(BaseModel):
    """All invoices found in one document."""

    model_config = ConfigDict(extra="forbid")

    invoices: list[Invoice] = Field(
        min_length=1, max_length=5, description="In the order of the document"
    )
