#!/bin/sh
# A bracket order as a bot written for Tradier places it. Needs a running server (npm start), curl and node.
#
#   sh examples/tradier-order.sh [data/demo-credentials.json]
set -eu

CREDENTIALS=${1:-data/demo-credentials.json}
field() { node -pe "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }
BASE_URL=$(field baseUrl <"$CREDENTIALS")
API_KEY=$(field apiKey <"$CREDENTIALS")
TOKEN=$(curl -sS --fail-with-body "$BASE_URL/v1/auth/token" \
  -H 'Content-Type: application/json' -d "{\"apiKey\":\"$API_KEY\"}" | field token)

# An account of Tradier is a portfolio.
curl -sS --fail-with-body -o /dev/null "$BASE_URL/v1/accounts/portfolios" -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' -d '{
  "accountId": "11111111-1111-4111-8111-111111111111",
  "portfolioType": "MARGIN",
  "accountType": "INDIVIDUAL",
  "brokerId": "default"
}'

# From here on the bot, with its base URL changed.
tradier() {
  path=$1
  shift
  curl -sS --fail-with-body "$BASE_URL/tradier/v1/$path" -H "Authorization: Bearer $TOKEN" -H 'Accept: application/json' "$@"
}

ACCOUNT=$(tradier user/profile | field 'profile.account.account_number')
echo "account $ACCOUNT"
PRICE=$(tradier 'markets/quotes?symbols=AAPL' | field 'quotes.quote.ask')
at() { node -pe "($PRICE * $1).toFixed(2)"; }

# Ten shares near the market, with a profit target and a stop.
ORDER=$(tradier "accounts/$ACCOUNT/orders" -d class=otoco -d duration=gtc \
  -d 'symbol[0]=AAPL' -d 'side[0]=buy' -d 'quantity[0]=10' -d 'type[0]=limit' -d "price[0]=$(at 1.01)" \
  -d 'symbol[1]=AAPL' -d 'side[1]=sell' -d 'quantity[1]=10' -d 'type[1]=limit' -d "price[1]=$(at 1.10)" \
  -d 'symbol[2]=AAPL' -d 'side[2]=sell' -d 'quantity[2]=10' -d 'type[2]=stop' -d "stop[2]=$(at 0.95)" | field order.id)
tradier "accounts/$ACCOUNT/orders/$ORDER"
echo
tradier "accounts/$ACCOUNT/positions"
echo
