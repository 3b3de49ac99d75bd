"""Calls of uvatradier, unmodified: its hosts are those of its constructors."""

import asyncio
import contextlib
import io
import json
import os
import sys

from uvatradier import Account, EquityOrder, OptionsData, OptionsOrder, Quotes, Stream

calls = []
keys = (os.environ["TRADIER_ACCOUNT_NUMBER"], os.environ["TRADIER_ACCESS_TOKEN"])
account, equity, quotes = Account(*keys), EquityOrder(*keys), Quotes(*keys)
options, contracts, stream = OptionsOrder(*keys), OptionsData(*keys), Stream(*keys)


def attempt(name, call, *given, **named):
    """Makes a call whose result must not be empty. Its result; None if it failed, so that later calls are tried too."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            result = call(*given, **named)
        assert result is not None and len(result) > 0, f"empty: {said.getvalue().strip()}"
        calls.append({"name": name})
        return result
    except BaseException as error:
        calls.append({"name": name, "why": f"{type(error).__name__}: {error}"[:200]})
        return None


def placed(answer):
    """The order of an answer."""
    order = answer.get("order", answer)
    assert "id" in order, answer
    return order


def read_stream():
    """The first events of the market's WebSocket."""
    seen = []

    async def read():
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(stream.ws_market_connect(["AAPL"], ["quote"], True, True, False, seen.append), 3)

    asyncio.run(read())
    return seen


attempt("get_user_profile", account.get_user_profile)
attempt("get_account_balance", account.get_account_balance)
attempt("order market", lambda: placed(equity.order("AAPL", "buy", 10, "market")))
rests = attempt("order limit", lambda: placed(equity.order("AAPL", "buy", 1, "limit", limit_price=5)))
attempt("order stop", lambda: placed(equity.order("AAPL", "sell", 1, "stop", stop_price=1)))
attempt("get_orders", account.get_orders)
attempt("cancel_order", lambda: placed(equity.cancel_order(rests["id"])))
attempt("order sell", lambda: placed(equity.order("AAPL", "sell", 5, "market")))
attempt("get_positions", account.get_positions)
attempt("get_gainloss", account.get_gainloss)
attempt("get_historical_quotes", quotes.get_historical_quotes, "AAPL")
attempt("get_quote_day", quotes.get_quote_day, "AAPL")
attempt("get_quote_data", quotes.get_quote_data, ["AAPL", "MSFT"])
attempt("get_timesales", quotes.get_timesales, "AAPL")
attempt("search_companies", quotes.search_companies, "A")
dates = attempt("get_expiry_dates", contracts.get_expiry_dates, "AAPL")
attempt("get_expiry_dates strikes", contracts.get_expiry_dates, "AAPL", strikes=True)
attempt("get_closest_expiry", contracts.get_closest_expiry, "AAPL", 30)
attempt("get_options_symbols", contracts.get_options_symbols, "AAPL")
chain = attempt("get_chain_day", contracts.get_chain_day, "AAPL", expiry=dates[2], option_type="call")
last = float(quotes.get_quote_day("AAPL", last_price=True))
near = (chain["strike"] - last).abs().to_numpy().argsort()
first, second = sorted(chain["symbol"].iloc[near[:2]])
attempt("options_order", lambda: placed(options.options_order(first, "market", "buy_to_open", 2)))
attempt("options_order limit", lambda: placed(options.options_order(first, "limit", "buy_to_open", 1, limit_price=0.01)))
attempt(
    "multileg_order",
    lambda: placed(options.multileg_order([first, second], ["buy_to_open", "sell_to_open"], [1, 1], "market")),
)
attempt("bull_call_spread", lambda: placed(options.bull_call_spread("AAPL", first, 1, second, 1)))
attempt("stream_market_events", read_stream)
json.dump({"calls": calls}, sys.stdout)
print()
