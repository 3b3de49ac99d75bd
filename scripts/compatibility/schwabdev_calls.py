"""Calls of Schwabdev, unmodified: those of its `api_demo.py`, with orders, and its stream."""

import datetime as dt
import json
import os
import sys
import tempfile
import time

import requests
import schwabdev

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


def login(url):
    """The address to which the login redirects the browser."""
    return requests.get(url, allow_redirects=False).headers["location"]


client = attempt(
    "login",
    lambda: schwabdev.Client(
        os.environ["SCHWAB_APP_KEY"],
        os.environ["SCHWAB_APP_SECRET"],
        "https://127.0.0.1:8182",
        os.path.join(tempfile.mkdtemp(), "tokens.db"),
        call_on_auth=login,
    ),
)
now = dt.datetime.now(dt.timezone.utc)
since = now - dt.timedelta(days=30)
account = attempt("linked_accounts", client.linked_accounts).json()[0]["hashValue"]
attempt("account_details_all", client.account_details_all)
attempt("account_details", lambda: client.account_details(account, fields="positions"))


def order(price, kind="LIMIT"):
    leg = {"instruction": "BUY", "quantity": 1, "instrument": {"symbol": "INTC", "assetType": "EQUITY"}}
    body = {"orderType": kind, "session": "NORMAL", "duration": "DAY", "orderStrategyType": "SINGLE"}
    return {**body, "orderLegCollection": [leg], **({"price": price} if kind == "LIMIT" else {})}


def id_of(answer):
    answer.raise_for_status()
    return answer.headers["location"].split("/")[-1]


attempt("place_order market", lambda: client.place_order(account, order(None, "MARKET")))
placed = attempt("place_order limit", lambda: id_of(client.place_order(account, order("1.00"))))
attempt("order_details", lambda: client.order_details(account, placed))
replaced = attempt("replace_order", lambda: id_of(client.replace_order(account, placed, order("1.10"))))
attempt("cancel_order", lambda: client.cancel_order(account, replaced))
attempt("account_orders", lambda: client.account_orders(account, since, now + dt.timedelta(minutes=5)))
attempt("account_orders_all", lambda: client.account_orders_all(since, now + dt.timedelta(minutes=5)))
attempt("preview_order", lambda: client.preview_order(account, order("1.00")))
found = attempt("transactions", lambda: client.transactions(account, since, now + dt.timedelta(minutes=5), "TRADE"))
attempt("transaction_details", lambda: client.transaction_details(account, found.json()[0]["activityId"]))
attempt("preferences", client.preferences)
attempt("quotes", lambda: client.quotes(["AAPL", "AMD"]))
attempt("quote", lambda: client.quote("INTC"))
attempt("option_chains", lambda: client.option_chains("AAPL", contractType="CALL", range="OTM"))
attempt("option_expiration_chain", lambda: client.option_expiration_chain("AAPL"))
attempt("price_history", lambda: client.price_history("AAPL", "year"))
attempt("movers", lambda: client.movers("$DJI"))
attempt("market_hours", lambda: client.market_hours(["equity", "option"]))
attempt("market_hour", lambda: client.market_hour("equity"))
attempt("instruments", lambda: client.instruments("AAPL", "fundamental"))
cusip = client.instruments("AAPL", "symbol-search").json()["instruments"][0]["cusip"]
attempt("instrument_cusip", lambda: client.instrument_cusip(cusip))
attempt("instrument_cusip real", lambda: client.instrument_cusip("037833100"))


def stream():
    """The flow of `stream_demo.py`, until the first quotes."""
    said = []
    streamer = schwabdev.Stream(client)
    streamer.start(said.append)
    streamer.send(streamer.level_one_equities("AMD,INTC", "0,1,2,3,4,5,6,7,8"))
    end = time.time() + 15
    while not any('"LEVELONE_EQUITIES"' in text and '"data"' in text for text in said):
        assert time.time() < end, said[-2:]
        time.sleep(0.1)
    streamer.stop()


attempt("stream", stream)
print(json.dumps({"calls": calls}))
# Threads of the client may go on.
sys.stdout.flush()
os._exit(0)
