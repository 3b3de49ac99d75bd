#!/bin/sh
# One order from the terminal. Needs a running server (npm start), curl and node.
#
#   sh examples/first-order.sh [data/demo-credentials.json]
set -eu

CREDENTIALS=${1:-data/demo-credentials.json}
field() { node -pe "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }
BASE_URL=$(field baseUrl <"$CREDENTIALS")
API_KEY=$(field apiKey <"$CREDENTIALS")

# An API key is exchanged for a token that lasts a day.
TOKEN=$(curl -sS --fail-with-body "$BASE_URL/v1/auth/token" \
  -H 'Content-Type: application/json' -d "{\"apiKey\":\"$API_KEY\"}" | field token)

call() {
  method=$1 path=$2
  shift 2
  curl -sS --fail-with-body -X "$method" "$BASE_URL$path" -H "Authorization: Bearer $TOKEN" "$@"
}

# A portfolio with 100,000 dollars. The account is opened with it.
PORTFOLIO=$(call POST /v1/accounts/portfolios -H 'Content-Type: application/json' -d '{
  "accountId": "11111111-1111-4111-8111-111111111111",
  "portfolioType": "CASH",
  "accountType": "INDIVIDUAL",
  "brokerId": "default"
}' | field portfolioId)
echo "portfolio $PORTFOLIO"

# Ten shares at the market. 201 means that the order is on disk; what follows comes a moment later.
ORDER=$(call POST /v1/orders -H 'Content-Type: application/json' -H "Idempotency-Key: first-order-$$" -d "{
  \"portfolioId\": \"$PORTFOLIO\",
  \"symbol\": \"AAPL\",
  \"assetClass\": \"EQUITY\",
  \"orderType\": \"MARKET\",
  \"positionIntent\": \"BUY_TO_OPEN\",
  \"quantity\": 10,
  \"timeInForce\": \"DAY\"
}" | field orderId)

call GET "/v1/orders/$ORDER"
echo
# Why it was filled at this price.
call GET "/v1/orders/$ORDER/executions"
echo
call GET "/v1/accounts/portfolios/$PORTFOLIO/equities"
echo
