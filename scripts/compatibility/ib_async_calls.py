"""Calls of the Python client `ib_async`, unmodified: it connects to the paper port of TWS on this machine."""
import json
import sys
import time

from ib_async import IB, Bag, ComboLeg, Forex, LimitOrder, MarketOrder, Option, Order, Stock, StopOrder, TagValue

calls = []
errors = []
last = "none"
ib = IB()


def note(request, code, message, contract):
    global last
    errors.append(code)
    last = f"{code}: {message}"


ib.errorEvent += note


def attempt(name, call):
    try:
        result = call()
        calls.append({"name": name})
        return result
    except Exception as error:
        calls.append({"name": name, "why": f"{type(error).__name__}: {error}"[:120]})
        return None


def wait(condition):
    end = time.time() + 20
    while not condition():
        if time.time() > end:
            raise TimeoutError(f"last error {last}")
        ib.sleep(0.05)


def must(value):
    assert value, f"empty; last error {last}"
    return value


def market_order():
    trade = ib.placeOrder(apple, MarketOrder("BUY", 10))
    wait(lambda: trade.orderStatus.status == "Filled" and trade.fills and trade.fills[0].commissionReport.execId)


def limit_order():
    trade = ib.placeOrder(apple, LimitOrder("BUY", 5, 10))
    wait(lambda: trade.orderStatus.status == "Submitted")
    trade.order.lmtPrice = 11
    ib.placeOrder(apple, trade.order)
    must(ib.reqOpenOrders())
    must(ib.reqAllOpenOrders())
    ib.cancelOrder(trade.order)
    wait(lambda: trade.orderStatus.status == "Cancelled")


def bracket():
    orders = ib.bracketOrder("BUY", 5, 20, 900, 10)
    trades = [ib.placeOrder(apple, order) for order in orders]
    wait(lambda: all(trade.orderStatus.status in ("Submitted", "PreSubmitted") for trade in trades))
    ib.cancelOrder(orders.parent)
    wait(lambda: all(trade.isDone() for trade in trades))


def pair():
    orders = [LimitOrder("SELL", 5, 900, tif="GTC"), StopOrder("SELL", 5, 10, tif="GTC")]
    ib.oneCancelsAll(orders, "exit", 1)
    trades = [ib.placeOrder(apple, order) for order in orders]
    wait(lambda: all(trade.orderStatus.status in ("Submitted", "PreSubmitted") for trade in trades))
    ib.cancelOrder(orders[0])
    wait(lambda: all(trade.isDone() for trade in trades))


def trailing():
    order = Order(action="SELL", orderType="TRAIL", totalQuantity=5, trailingPercent=5, tif="GTC")
    trade = ib.placeOrder(apple, order)
    wait(lambda: trade.orderStatus.status == "PreSubmitted")
    ib.cancelOrder(order)
    wait(trade.isDone)


def refused(order, code):
    ib.placeOrder(apple, order)
    wait(lambda: code in errors)


def combination():
    middle = len(chain) // 2
    legs = [
        ComboLeg(conId=chain[middle + i].conId, ratio=1, action=action, exchange="SMART")
        for i, action in enumerate(["BUY", "SELL"])
    ]
    bag = Bag(symbol="AAPL", exchange="SMART", currency="USD", comboLegs=legs)
    trade = ib.placeOrder(bag, MarketOrder("BUY", 1))
    wait(lambda: trade.orderStatus.status == "Filled")


def ticker(contract, done):
    found = ib.reqMktData(contract, "", False, False)
    wait(lambda: done(found))
    ib.cancelMktData(contract)


def ticks():
    found = ib.reqTickByTickData(apple, "BidAsk")
    wait(lambda: found.bid == found.bid)
    ib.cancelTickByTickData(apple, "BidAsk")


def kept_bars():
    bars = ib.reqHistoricalData(apple, "", "2 D", "5 mins", "TRADES", False, 1, True)
    must(bars)
    ib.cancelHistoricalData(bars)


def profit():
    found = ib.reqPnL(account)
    wait(lambda: found.dailyPnL == found.dailyPnL)
    ib.cancelPnL(account)


def single_profit():
    found = ib.reqPnLSingle(account, "", apple.conId)
    wait(lambda: found.position == 10)
    ib.cancelPnLSingle(account, "", apple.conId)


def options():
    date = must(ib.reqSecDefOptParams("AAPL", "", "STK", apple.conId))[0].expirations[2]
    return [one.contract for one in must(ib.reqContractDetails(Option("AAPL", date, exchange="SMART", right="C")))]


algorithm = LimitOrder("BUY", 5, 10)
algorithm.algoStrategy = "Adaptive"
algorithm.algoParams = [TagValue("adaptivePriority", "Normal")]
attempt("connect", lambda: ib.connect("127.0.0.1", 7497, clientId=1))
account = ib.managedAccounts()[0]
apple = Stock("AAPL", "SMART", "USD")
attempt("qualifyContracts", lambda: must(ib.qualifyContracts(apple)))
attempt("reqContractDetails", lambda: must(ib.reqContractDetails(apple)))
attempt("reqMatchingSymbols", lambda: must(ib.reqMatchingSymbols("AAP")))
chain = attempt("reqSecDefOptParams", options)
attempt("reqCurrentTime", ib.reqCurrentTime)
attempt("accountValues", lambda: must(ib.accountValues()))
attempt("accountSummary", lambda: must(ib.accountSummary()))
attempt("placeOrder market", market_order)
attempt("placeOrder limit", limit_order)
attempt("bracketOrder", bracket)
attempt("oneCancelsAll", pair)
attempt("placeOrder trailing", trailing)
attempt("whatIfOrder", lambda: must(float(ib.whatIfOrder(apple, MarketOrder("BUY", 10)).initMarginChange) > 0))
attempt("placeOrder rejected", lambda: refused(MarketOrder("BUY", 10_000_000), 201))
attempt("placeOrder algorithm", lambda: refused(algorithm, 321))
attempt("placeOrder combination", combination)
attempt("positions", lambda: must(ib.positions()))
attempt("portfolio", lambda: must(ib.portfolio()))
attempt("fills", lambda: must(ib.fills()))
attempt("reqExecutions", lambda: must(ib.reqExecutions()))
attempt("reqCompletedOrders", lambda: must(ib.reqCompletedOrders(False)))
attempt("reqMktData", lambda: ticker(apple, lambda one: one.bid == one.bid and one.last == one.last))
attempt("reqMktData option", lambda: ticker(chain[len(chain) // 2], lambda one: one.modelGreeks is not None))
attempt("reqTickers", lambda: must(ib.reqTickers(apple)[0].marketPrice() > 0))
attempt("reqMarketDataType", lambda: ib.reqMarketDataType(3))
attempt("reqTickByTickData", ticks)
for size, duration in [("1 day", "10 D"), ("1 hour", "2 D"), ("5 mins", "2 D"), ("1 week", "1 Y")]:
    attempt(f"reqHistoricalData {size}", lambda: must(ib.reqHistoricalData(apple, "", duration, size, "TRADES", True)))
attempt("reqHistoricalData midpoint", lambda: must(ib.reqHistoricalData(apple, "", "5 D", "1 hour", "MIDPOINT", True, 2)))
attempt("reqHistoricalData keepUpToDate", kept_bars)
attempt("reqPnL", profit)
attempt("reqPnLSingle", single_profit)
attempt("reqMarketRule", lambda: must(ib.reqMarketRule(26)))
attempt("reqNewsProviders", ib.reqNewsProviders)
attempt("qualifyContracts forex", lambda: must([one for one in ib.qualifyContracts(Forex("EURUSD")) if one and one.conId]))
attempt("reqGlobalCancel", ib.reqGlobalCancel)
attempt("disconnect", ib.disconnect)
json.dump({"calls": calls}, sys.stdout)
print()
