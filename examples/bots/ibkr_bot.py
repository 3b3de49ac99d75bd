"""Follows the trend of AAPL at Interactive Brokers: long above its average of 20 days, else short, with a target and a stop."""

from ib_async import IB, MarketOrder, LimitOrder, Stock, StopOrder

ib = IB()
ib.connect("127.0.0.1", 7497, clientId=1)

[stock] = ib.qualifyContracts(Stock("AAPL", "SMART", "USD"))
bars = ib.reqHistoricalData(stock, "", "20 D", "1 day", "TRADES", useRTH=True)
average = sum(bar.close for bar in bars) / len(bars)
[ticker] = ib.reqTickers(stock)
price = ticker.marketPrice()
is_long = price > average
print(f"{stock.symbol} at {price:.2f}, average {average:.2f}: {'long' if is_long else 'short'}")

# A twentieth of the account.
[equity] = [one for one in ib.accountSummary() if one.tag == "NetLiquidation"]
quantity = int(float(equity.value) / 20 / price)
side, other = ("BUY", "SELL") if is_long else ("SELL", "BUY")
gain, loss = (1.06, 0.97) if is_long else (0.94, 1.03)

entry = MarketOrder(side, quantity, orderId=ib.client.getReqId(), transmit=False)
exit = dict(parentId=entry.orderId, tif="GTC")
target = LimitOrder(other, quantity, round(price * gain, 2), orderId=ib.client.getReqId(), transmit=False, **exit)
stop = StopOrder(other, quantity, round(price * loss, 2), orderId=ib.client.getReqId(), **exit)
trades = [ib.placeOrder(stock, order) for order in (entry, target, stop)]

while not trades[0].fills or not trades[0].fills[-1].commissionReport.execId:
    ib.waitOnUpdate(timeout=30)
for fill in trades[0].fills:
    print(f"{fill.execution.side} {fill.execution.shares:g} {stock.symbol} filled at {fill.execution.price}")
for trade in trades[1:]:
    print(f"{trade.order.orderType} at {trade.order.lmtPrice if trade is trades[1] else trade.order.auxPrice}: {trade.orderStatus.status}")
ib.disconnect()
