"""Follows the trend of AAPL at Alpaca: long above its average of 20 days, else short, with a target and a stop."""

import os
import time
from datetime import datetime, timedelta, timezone

from alpaca.data.historical import StockHistoricalDataClient
from alpaca.data.requests import StockBarsRequest, StockLatestTradeRequest
from alpaca.data.timeframe import TimeFrame
from alpaca.trading.client import TradingClient
from alpaca.trading.enums import OrderClass, OrderSide, TimeInForce
from alpaca.trading.requests import MarketOrderRequest, StopLossRequest, TakeProfitRequest

SYMBOL = "AAPL"
KEYS = os.environ["APCA_API_KEY_ID"], os.environ["APCA_API_SECRET_KEY"]

trading = TradingClient(*KEYS, paper=True)
data = StockHistoricalDataClient(*KEYS)

since = datetime.now(timezone.utc) - timedelta(days=45)
bars = data.get_stock_bars(StockBarsRequest(symbol_or_symbols=SYMBOL, timeframe=TimeFrame.Day, start=since)).df
average = bars["close"].tail(20).mean()
price = data.get_stock_latest_trade(StockLatestTradeRequest(symbol_or_symbols=SYMBOL))[SYMBOL].price
is_long = price > average
print(f"{SYMBOL} at {price:.2f}, average {average:.2f}: {'long' if is_long else 'short'}")

# A twentieth of the account.
quantity = int(float(trading.get_account().equity) / 20 / price)
gain, loss = (1.06, 0.97) if is_long else (0.94, 1.03)
order = trading.submit_order(
    MarketOrderRequest(
        symbol=SYMBOL,
        qty=quantity,
        side=OrderSide.BUY if is_long else OrderSide.SELL,
        time_in_force=TimeInForce.GTC,
        order_class=OrderClass.BRACKET,
        take_profit=TakeProfitRequest(limit_price=round(price * gain, 2)),
        stop_loss=StopLossRequest(stop_price=round(price * loss, 2)),
    )
)
while order.status != "filled":
    time.sleep(0.2)
    order = trading.get_order_by_id(order.id)
print(f"{order.side.value} {order.filled_qty} {SYMBOL} filled at {order.filled_avg_price}")
for exit in order.legs:
    print(f"{exit.order_type.value} at {exit.limit_price or exit.stop_price}: {exit.status.value}")
