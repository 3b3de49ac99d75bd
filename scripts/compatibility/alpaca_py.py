"""Calls of alpaca-py, unmodified: its hosts are those of its defaults."""

import json
import os
import sys
from datetime import date, datetime, timedelta, timezone

from alpaca.data.historical.option import OptionHistoricalDataClient
from alpaca.data.historical.screener import ScreenerClient
from alpaca.data.historical.stock import StockHistoricalDataClient
from alpaca.data import requests as data_requests
from alpaca.data.timeframe import TimeFrame
from alpaca.trading import requests
from alpaca.trading.client import TradingClient
from alpaca.trading.enums import OrderClass, OrderSide, QueryOrderStatus, TimeInForce

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


keys = (os.environ["APCA_API_KEY_ID"], os.environ["APCA_API_SECRET_KEY"])
trading = TradingClient(*keys, paper=True)
stocks = StockHistoricalDataClient(*keys)
options = OptionHistoricalDataClient(*keys)
screener = ScreenerClient(*keys)
buy = dict(symbol="AAPL", qty=10, side=OrderSide.BUY, time_in_force=TimeInForce.DAY)
gtc = dict(buy, qty=1, time_in_force=TimeInForce.GTC)
since = datetime.now(timezone.utc) - timedelta(days=1)

attempt("get_account", trading.get_account)
attempt("get_account_configurations", trading.get_account_configurations)
configuration = trading.get_account_configurations()
attempt("set_account_configurations", lambda: trading.set_account_configurations(configuration))
attempt("get_clock", trading.get_clock)
attempt("get_calendar", lambda: trading.get_calendar(requests.GetCalendarRequest(start=date(2026, 1, 5), end=date(2026, 1, 9))))
attempt("get_all_assets", lambda: trading.get_all_assets(requests.GetAssetsRequest()))
attempt("get_asset", lambda: trading.get_asset("AAPL"))
bought = attempt("submit_order market", lambda: trading.submit_order(requests.MarketOrderRequest(**buy)))
attempt("get_order_by_id", lambda: trading.get_order_by_id(bought.id))
rests = attempt("submit_order limit", lambda: trading.submit_order(requests.LimitOrderRequest(**gtc, limit_price=5, client_order_id="own")))
attempt("get_order_by_client_id", lambda: trading.get_order_by_client_id("own"))
replaced = attempt("replace_order_by_id", lambda: trading.replace_order_by_id(rests.id, requests.ReplaceOrderRequest(limit_price=6)))
attempt("get_orders", lambda: trading.get_orders(requests.GetOrdersRequest(status=QueryOrderStatus.ALL)))
attempt("cancel_order_by_id", lambda: trading.cancel_order_by_id(replaced.id))
attempt("submit_order stop", lambda: trading.submit_order(requests.StopOrderRequest(**gtc, stop_price=1000)))
attempt("submit_order stop_limit", lambda: trading.submit_order(requests.StopLimitOrderRequest(**gtc, stop_price=1000, limit_price=1001)))
attempt("submit_order trailing_stop", lambda: trading.submit_order(requests.TrailingStopOrderRequest(**dict(gtc, side=OrderSide.SELL), trail_percent=5)))
attempt("cancel_orders", trading.cancel_orders)
attempt(
    "submit_order bracket",
    lambda: trading.submit_order(
        requests.LimitOrderRequest(
            **buy,
            limit_price=5,
            order_class=OrderClass.BRACKET,
            take_profit=requests.TakeProfitRequest(limit_price=10),
            stop_loss=requests.StopLossRequest(stop_price=4),
        )
    ),
)
attempt("submit_order notional", lambda: trading.submit_order(requests.MarketOrderRequest(symbol="MSFT", notional=100, side=OrderSide.BUY, time_in_force=TimeInForce.DAY)))
trading.cancel_orders()
attempt("get_all_positions", trading.get_all_positions)
attempt("get_open_position", lambda: trading.get_open_position("AAPL"))
contracts = attempt("get_option_contracts", lambda: trading.get_option_contracts(requests.GetOptionContractsRequest(underlying_symbols=["AAPL"])))
contract = contracts.option_contracts[0].symbol if contracts and contracts.option_contracts else "AAPL"
attempt("get_option_contract", lambda: trading.get_option_contract(contract))
attempt("close_position", lambda: trading.close_position("AAPL"))
attempt("close_all_positions", lambda: trading.close_all_positions(cancel_orders=True))
attempt("get_portfolio_history", lambda: trading.get_portfolio_history(requests.GetPortfolioHistoryRequest(period="1M", timeframe="1D")))
watchlist = attempt("create_watchlist", lambda: trading.create_watchlist(requests.CreateWatchlistRequest(name="tech", symbols=["AAPL"])))
attempt("get_watchlists", trading.get_watchlists)
attempt("get_watchlist_by_id", lambda: trading.get_watchlist_by_id(watchlist.id))
attempt("add_asset_to_watchlist_by_id", lambda: trading.add_asset_to_watchlist_by_id(watchlist.id, "MSFT"))
attempt("remove_asset_from_watchlist_by_id", lambda: trading.remove_asset_from_watchlist_by_id(watchlist.id, "MSFT"))
attempt("update_watchlist_by_id", lambda: trading.update_watchlist_by_id(watchlist.id, requests.UpdateWatchlistRequest(name="more", symbols=["KO"])))
attempt("delete_watchlist_by_id", lambda: trading.delete_watchlist_by_id(watchlist.id))
attempt("get_corporate_announcements", lambda: trading.get_corporate_announcements(requests.GetCorporateAnnouncementsRequest(ca_types=["dividend"], since=date.today() - timedelta(days=30), until=date.today())))
attempt("get_stock_bars", lambda: stocks.get_stock_bars(data_requests.StockBarsRequest(symbol_or_symbols="AAPL", timeframe=TimeFrame.Hour, start=since)).df)
attempt("get_stock_quotes", lambda: stocks.get_stock_quotes(data_requests.StockQuotesRequest(symbol_or_symbols="AAPL", start=since, limit=10)))
attempt("get_stock_trades", lambda: stocks.get_stock_trades(data_requests.StockTradesRequest(symbol_or_symbols="AAPL", start=since, limit=10)))
attempt("get_stock_latest_trade", lambda: stocks.get_stock_latest_trade(data_requests.StockLatestTradeRequest(symbol_or_symbols=["AAPL"])))
attempt("get_stock_latest_quote", lambda: stocks.get_stock_latest_quote(data_requests.StockLatestQuoteRequest(symbol_or_symbols=["AAPL"])))
attempt("get_stock_latest_bar", lambda: stocks.get_stock_latest_bar(data_requests.StockLatestBarRequest(symbol_or_symbols=["AAPL"])))
attempt("get_stock_snapshot", lambda: stocks.get_stock_snapshot(data_requests.StockSnapshotRequest(symbol_or_symbols=["AAPL"])))
attempt("get_option_chain", lambda: options.get_option_chain(data_requests.OptionChainRequest(underlying_symbol="AAPL")))
attempt("get_option_latest_quote", lambda: options.get_option_latest_quote(data_requests.OptionLatestQuoteRequest(symbol_or_symbols=[contract])))
attempt("get_option_latest_trade", lambda: options.get_option_latest_trade(data_requests.OptionLatestTradeRequest(symbol_or_symbols=[contract])))
attempt("get_option_snapshot", lambda: options.get_option_snapshot(data_requests.OptionSnapshotRequest(symbol_or_symbols=[contract])))
attempt("get_most_actives", lambda: screener.get_most_actives(data_requests.MostActivesRequest()))
attempt("get_market_movers", lambda: screener.get_market_movers(data_requests.MarketMoversRequest()))
json.dump({"calls": calls}, sys.stdout)
print()
