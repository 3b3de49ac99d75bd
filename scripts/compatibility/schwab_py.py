"""Calls of schwab-py, unmodified: its login flow, its order templates, its stream."""

import asyncio
import datetime as dt
import json
import os
import tempfile

import schwab
from schwab.orders import equities, options
from schwab.streaming import StreamClient

calls = []


def attempt(name, call):
    """Makes a call. Its result; None if it failed, so that later calls are tried too."""
    try:
        result = call()
        if hasattr(result, "raise_for_status"):
            result.raise_for_status()
        calls.append({"name": name})
        return result
    except Exception as error:
        calls.append({"name": name, "why": f"{type(error).__name__} {error}"[:200]})
        return None


token_path = os.path.join(tempfile.mkdtemp(), "token.json")
client = attempt(
    "client_from_login_flow",
    lambda: schwab.auth.client_from_login_flow(
        os.environ["SCHWAB_APP_KEY"],
        os.environ["SCHWAB_APP_SECRET"],
        "https://127.0.0.1:8182",
        token_path,
        interactive=False,
        callback_timeout=30,
    ),
)
client = attempt(
    "client_from_token_file",
    lambda: schwab.auth.client_from_token_file(
        token_path, os.environ["SCHWAB_APP_KEY"], os.environ["SCHWAB_APP_SECRET"]
    ),
)
numbers = attempt("get_account_numbers", client.get_account_numbers).json()
account_hash = numbers[0]["hashValue"]
attempt("get_account", lambda: client.get_account(account_hash, fields=client.Account.Fields.POSITIONS))
attempt("get_accounts", client.get_accounts)
attempt("get_user_preferences", client.get_user_preferences)
utils = schwab.utils.Utils(client, account_hash)


def options_of():
    today = dt.date.today()
    chain = client.get_option_chain("AAPL", from_date=today, to_date=today + dt.timedelta(days=30), strike_count=4).json()
    calls_map = next(iter(chain["callExpDateMap"].values()))
    puts_map = next(iter(chain["putExpDateMap"].values()))
    strikes = sorted(calls_map, key=float)
    return [calls_map[s][0]["symbol"] for s in strikes], [puts_map[s][0]["symbol"] for s in strikes]


call_symbols, put_symbols = attempt("get_option_chain", options_of)
c1, c2, p1, p2 = call_symbols[1], call_symbols[2], put_symbols[1], put_symbols[2]
last = client.get_quote("AAPL").json()["AAPL"]["quote"]["lastPrice"]
low, high = f"{last / 2:.2f}", f"{last * 2:.2f}"

templates = [
    ("equity_buy_market", lambda: equities.equity_buy_market("AAPL", 10), "FILLED"),
    ("equity_buy_limit", lambda: equities.equity_buy_limit("AAPL", 1, low), None),
    ("equity_sell_limit", lambda: equities.equity_sell_limit("AAPL", 1, high), None),
    ("equity_sell_market", lambda: equities.equity_sell_market("AAPL", 1), "FILLED"),
    ("equity_sell_short_market", lambda: equities.equity_sell_short_market("MSFT", 2), "FILLED"),
    ("equity_sell_short_limit", lambda: equities.equity_sell_short_limit("MSFT", 1, "5000"), None),
    ("equity_buy_to_cover_limit", lambda: equities.equity_buy_to_cover_limit("MSFT", 1, "10"), None),
    ("equity_buy_to_cover_market", lambda: equities.equity_buy_to_cover_market("MSFT", 1), "FILLED"),
    ("option_buy_to_open_market", lambda: options.option_buy_to_open_market(c1, 3), "FILLED"),
    ("option_buy_to_open_limit", lambda: options.option_buy_to_open_limit(c1, 1, "0.01"), None),
    ("option_sell_to_close_limit", lambda: options.option_sell_to_close_limit(c1, 1, "500"), None),
    ("option_sell_to_close_market", lambda: options.option_sell_to_close_market(c1, 1), "FILLED"),
    ("option_sell_to_open_market", lambda: options.option_sell_to_open_market(c2, 2), "FILLED"),
    ("option_sell_to_open_limit", lambda: options.option_sell_to_open_limit(p1, 1, "500"), None),
    ("option_buy_to_close_limit", lambda: options.option_buy_to_close_limit(c2, 1, "0.01"), None),
    ("option_buy_to_close_market", lambda: options.option_buy_to_close_market(c2, 1), "FILLED"),
    ("bull_call_vertical_open", lambda: options.bull_call_vertical_open(c1, c2, 1, "0.01"), None),
    ("bull_call_vertical_close", lambda: options.bull_call_vertical_close(c1, c2, 1, "400"), None),
    ("bear_call_vertical_open", lambda: options.bear_call_vertical_open(c1, c2, 1, "400"), None),
    ("bear_call_vertical_close", lambda: options.bear_call_vertical_close(c1, c2, 1, "0.01"), None),
    ("bull_put_vertical_open", lambda: options.bull_put_vertical_open(p1, p2, 1, "400"), None),
    ("bull_put_vertical_close", lambda: options.bull_put_vertical_close(p1, p2, 1, "0.01"), None),
    ("bear_put_vertical_open", lambda: options.bear_put_vertical_open(p1, p2, 1, "0.01"), None),
    ("bear_put_vertical_close", lambda: options.bear_put_vertical_close(p1, p2, 1, "400"), None),
]


def lifecycle(build, status):
    """Places, reads, replaces and cancels an order."""
    order_id = utils.extract_order_id(client.place_order(account_hash, build()))
    assert order_id is not None
    order = client.get_order(order_id, account_hash).json()
    assert order["orderId"] == order_id, order
    if status is not None and order["status"] == status:
        return
    if order["status"] == "REJECTED":
        # The brokerage's answer, as when nothing is there to close.
        return
    replaced = client.replace_order(account_hash, order_id, build().set_duration(schwab.orders.common.Duration.GOOD_TILL_CANCEL))
    replaced.raise_for_status()
    order_id = utils.extract_order_id(replaced)
    client.cancel_order(order_id, account_hash).raise_for_status()
    assert client.get_order(order_id, account_hash).json()["status"] == "CANCELED"


for name, build, status in templates:
    attempt(name, lambda: lifecycle(build, status))


def trigger():
    pair = schwab.orders.common.one_cancels_other(
        equities.equity_sell_limit("AAPL", 1, high),
        equities.equity_sell_limit("AAPL", 1, high)
        .set_order_type(schwab.orders.common.OrderType.STOP)
        .clear_price()
        .set_stop_price(f"{last / 4:.2f}"),
    )
    order = schwab.orders.common.first_triggers_second(equities.equity_buy_limit("AAPL", 1, low), pair)
    order_id = utils.extract_order_id(client.place_order(account_hash, order))
    shown = client.get_order(order_id, account_hash).json()
    assert shown["orderStrategyType"] == "TRIGGER", shown
    client.cancel_order(order_id, account_hash).raise_for_status()


attempt("first_triggers_second and one_cancels_other", trigger)
attempt("get_orders_for_account", lambda: client.get_orders_for_account(account_hash))
attempt("get_orders_for_all_linked_accounts", client.get_orders_for_all_linked_accounts)
attempt("preview_order", lambda: client.preview_order(account_hash, equities.equity_buy_limit("AAPL", 1, low)))
found = attempt("get_transactions", lambda: client.get_transactions(account_hash)).json()
attempt("get_transaction", lambda: client.get_transaction(account_hash, found[0]["activityId"]))
attempt("get_quotes", lambda: client.get_quotes(["AAPL", "$SPX", c1]))
attempt("get_quote", lambda: client.get_quote(c1))
attempt("get_option_expiration_chain", lambda: client.get_option_expiration_chain("AAPL"))
for name in ["minute", "five_minutes", "ten_minutes", "fifteen_minutes", "thirty_minutes", "day", "week"]:
    method = getattr(client, f"get_price_history_every_{name}")
    attempt(method.__name__, lambda: method("AAPL"))
attempt("get_movers", lambda: client.get_movers(client.Movers.Index.SPX))
attempt("get_market_hours", lambda: client.get_market_hours(list(client.MarketHours.Market)))
attempt("get_instruments", lambda: client.get_instruments(["AAPL"], client.Instrument.Projection.FUNDAMENTAL))
cusip = client.get_instruments(["AAPL"], client.Instrument.Projection.SYMBOL_SEARCH).json()["instruments"][0]["cusip"]
attempt("get_instrument_by_cusip", lambda: client.get_instrument_by_cusip(cusip))


async def stream():
    """The flow of examples/streaming/level_one_equity.py, with options, charts and account activity."""
    streamer = StreamClient(client, account_id=int(numbers[0]["accountNumber"]))
    seen = {}
    note = lambda name: lambda message: seen.setdefault(name, message)
    await streamer.login()
    streamer.add_level_one_equity_handler(note("equity"))
    streamer.add_level_one_option_handler(note("option"))
    streamer.add_chart_equity_handler(note("chart"))
    streamer.add_account_activity_handler(note("activity"))
    await streamer.level_one_equity_subs(["GOOG", "AAPL", "TSLA"])
    await streamer.level_one_equity_add(["MSFT"])
    await streamer.level_one_equity_unsubs(["TSLA"])
    await streamer.level_one_option_subs([c1])
    await streamer.chart_equity_subs(["AAPL"])
    await streamer.account_activity_sub()
    client.place_order(account_hash, equities.equity_buy_market("AAPL", 1))
    while set(seen) != {"equity", "option", "chart", "activity"}:
        await asyncio.wait_for(streamer.handle_message(), 20)
    assert "BID_PRICE" in seen["equity"]["content"][0], seen["equity"]
    await streamer.logout()


attempt("stream", lambda: asyncio.run(stream()))
print(json.dumps({"calls": calls}))
