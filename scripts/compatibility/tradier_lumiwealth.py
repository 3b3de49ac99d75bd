"""Calls of lumiwealth-tradier, unmodified: its hosts are those of its constants."""

import datetime as dt
import json
import os
import sys
from zoneinfo import ZoneInfo

from lumiwealth_tradier import Tradier

calls = []


def attempt(name, call):
    """Makes a call. Its result; None if it failed, so that later calls are tried too."""
    try:
        result = call()
        calls.append({"name": name})
        return result
    except Exception as error:
        calls.append({"name": name, "why": str(error)[:120]})
        return None


client = Tradier(os.environ["TRADIER_ACCOUNT_NUMBER"], os.environ["TRADIER_ACCESS_TOKEN"], is_paper=True)
account, market, orders = client.account, client.market, client.orders
now = dt.datetime.now(ZoneInfo("America/New_York")).replace(tzinfo=None)
today = now.date()

attempt("get_user_profile", account.get_user_profile)
attempt("get_account_balance", account.get_account_balance)
attempt("order market", lambda: orders.order("AAPL", "buy", 10, "market"))
rests = attempt("order limit", lambda: orders.order("AAPL", "buy", 1, "limit", duration="gtc", limit_price=5, tag="own"))
attempt("get_order", lambda: orders.get_order(rests["id"]))
attempt("get_orders", orders.get_orders)
attempt("modify", lambda: orders.modify(rests["id"], limit_price=6))
attempt("cancel", lambda: orders.cancel(rests["id"]))
attempt("get_positions", account.get_positions)
attempt("get_gainloss", account.get_gainloss)
attempt("get_history", account.get_history)
attempt("get_quotes", lambda: market.get_quotes(["AAPL", "MSFT"]))
attempt("get_last_price", lambda: market.get_last_price("AAPL"))
attempt("get_historical_quotes", lambda: market.get_historical_quotes("AAPL"))
attempt("get_timesales", lambda: market.get_timesales("AAPL", interval=15, start_date=now - dt.timedelta(hours=3), end_date=now))
expirations = attempt("get_option_expirations", lambda: market.get_option_expirations("AAPL"))
expiration = str(expirations.index[0])[:10] if expirations is not None else today
attempt("get_option_chains", lambda: market.get_option_chains("AAPL", expiration, greeks=True))
attempt("get_option_strikes", lambda: market.get_option_strikes("AAPL", expiration))
attempt("get_clock", market.get_clock)
attempt("get_calendar", lambda: market.get_calendar(today.month, today.year))
attempt("lookup_symbol", lambda: market.lookup_symbol("AAPL"))
# The client looks no further back than the month of the date.
attempt("get_previous_trading_day", lambda: market.get_previous_trading_day(today.replace(day=15)))
json.dump({"calls": calls}, sys.stdout)
print()
