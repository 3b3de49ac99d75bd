"""Follows the trend of AAPL at Schwab: long above its average of 20 days, else short, with a target and a stop."""

import os
import tempfile
import time

from schwab.auth import easy_client
from schwab.orders.common import Duration, OrderType, first_triggers_second, one_cancels_other
from schwab.orders.equities import (
    equity_buy_market,
    equity_buy_to_cover_limit,
    equity_sell_limit,
    equity_sell_short_market,
)
from schwab.utils import Utils

SYMBOL = "AAPL"
TOKEN = os.environ.get("SCHWAB_TOKEN_PATH", os.path.join(tempfile.mkdtemp(), "token.json"))

client = easy_client(
    os.environ["SCHWAB_APP_KEY"], os.environ["SCHWAB_APP_SECRET"], "https://127.0.0.1:8182", TOKEN, interactive=False
)
account = client.get_account_numbers().json()[0]["hashValue"]

candles = client.get_price_history_every_day(SYMBOL).json()["candles"]
average = sum(candle["close"] for candle in candles[-20:]) / 20
price = client.get_quote(SYMBOL).json()[SYMBOL]["quote"]["lastPrice"]
is_long = price > average
print(f"{SYMBOL} at {price:.2f}, average {average:.2f}: {'long' if is_long else 'short'}")

# A twentieth of the account.
equity = client.get_account(account).json()["securitiesAccount"]["currentBalances"]["liquidationValue"]
quantity = int(equity / 20 / price)
enter, leave = (equity_buy_market, equity_sell_limit) if is_long else (equity_sell_short_market, equity_buy_to_cover_limit)
gain, loss = (1.06, 0.97) if is_long else (0.94, 1.03)
target = leave(SYMBOL, quantity, f"{price * gain:.2f}").set_duration(Duration.GOOD_TILL_CANCEL)
stop = (
    leave(SYMBOL, quantity, "1")
    .set_order_type(OrderType.STOP)
    .clear_price()
    .set_stop_price(f"{price * loss:.2f}")
    .set_duration(Duration.GOOD_TILL_CANCEL)
)
entry = enter(SYMBOL, quantity).set_duration(Duration.GOOD_TILL_CANCEL)
placed = client.place_order(account, first_triggers_second(entry, one_cancels_other(target, stop)))
placed.raise_for_status()
order_id = Utils(client, account).extract_order_id(placed)

while (order := client.get_order(order_id, account).json())["status"] != "FILLED":
    time.sleep(0.2)
for activity in order["orderActivityCollection"]:
    for leg in activity["executionLegs"]:
        print(f"{order['orderLegCollection'][0]['instruction']} {leg['quantity']:g} {SYMBOL} filled at {leg['price']}")
for pair in order["childOrderStrategies"]:
    for exit in pair["childOrderStrategies"]:
        print(f"{exit['orderType']} at {exit.get('price') or exit['stopPrice']}: {exit['status']}")
