"""A client for Sandpit, a simulated US brokerage. One file, standard library only, Python 3.9 or later.

    import sandpit

    client = sandpit.connect()                      # SANDPIT_URL and SANDPIT_TOKEN or SANDPIT_API_KEY, else ./data
    portfolio = client.open_portfolio(cash=10_000)
    order = portfolio.buy("AAPL", 10, limit=187.50)
    print(order.filled()["averagePrice"])           # told by the stream, never polled

In tests, with pytest (`pytest_plugins = ["sandpit"]` in conftest.py), every test gets a market and a clock of its own:

    def test_buys(sandbox):
        sandbox.quote("AAPL", 187.49, 187.50)
        assert sandbox.portfolio.buy("AAPL", 10).filled()["averagePrice"] == 187.50

Every POST carries an Idempotency-Key, and network errors, 429 and 503 are tried again with the same one: nothing is done twice.
Answers are dictionaries with the names of the API. Nothing here is real money.
"""

import atexit
import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import random
import re
import shutil
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

__version__ = "0.1.0"

OPERATIONS = {
    "createAccount": "POST /v1/accounts",
    "listAccounts": "GET /v1/accounts",
    "getAccount": "GET /v1/accounts/:accountId",
    "updateAccount": "PUT /v1/accounts/:accountId",
    "freezeAccount": "PUT /v1/accounts/:accountId/freeze",
    "unfreezeAccount": "PUT /v1/accounts/:accountId/unfreeze",
    "deleteAccount": "DELETE /v1/accounts/:accountId",
    "listAccountPortfolios": "GET /v1/accounts/:accountId/portfolios",
    "listPortfolios": "GET /v1/portfolios",
    "listBrokers": "GET /v1/brokers",
    "createPortfolio": "POST /v1/accounts/portfolios",
    "getPortfolio": "GET /v1/accounts/portfolios/:portfolioId",
    "closePortfolio": "DELETE /v1/accounts/portfolios/:portfolioId",
    "listEquityPositions": "GET /v1/accounts/portfolios/:portfolioId/equities",
    "listOptionPositions": "GET /v1/accounts/portfolios/:portfolioId/options",
    "exerciseOption": "POST /v1/accounts/portfolios/:portfolioId/options/:optionSymbol/exercise",
    "doNotExerciseOption": "POST /v1/accounts/portfolios/:portfolioId/options/:optionSymbol/do-not-exercise",
    "listFuturePositions": "GET /v1/accounts/portfolios/:portfolioId/futures",
    "listDayTrades": "GET /v1/accounts/portfolios/:portfolioId/day-trades",
    "getMarginEligibility": "GET /v1/accounts/portfolios/:portfolioId/margin-eligibility",
    "upgradeMargin": "PUT /v1/accounts/portfolios/:portfolioId/margin-upgrade",
    "updatePortfolio": "PUT /v1/accounts/portfolios/:portfolioId",
    "switchBroker": "PUT /v1/accounts/portfolios/:portfolioId/broker",
    "resetPortfolio": "POST /v1/accounts/portfolios/:portfolioId/reset",
    "transferCash": "POST /v1/accounts/portfolios/:portfolioId/transfers",
    "importPositions": "POST /v1/accounts/portfolios/:portfolioId/import",
    "listActivities": "GET /v1/accounts/portfolios/:portfolioId/activities",
    "listLedgerEntries": "GET /v1/accounts/portfolios/:portfolioId/ledger",
    "getEquityCurve": "GET /v1/accounts/portfolios/:portfolioId/history",
    "getPortfolioMargin": "GET /v1/accounts/portfolios/:portfolioId/margin",
    "listSettlements": "GET /v1/accounts/portfolios/:portfolioId/settlements",
    "listMarginCalls": "GET /v1/accounts/portfolios/:portfolioId/margin-calls",
    "listSma": "GET /v1/accounts/portfolios/:portfolioId/sma",
    "listTrades": "GET /v1/accounts/portfolios/:portfolioId/trades",
    "getPerformance": "GET /v1/accounts/portfolios/:portfolioId/performance",
    "getReport": "GET /v1/accounts/portfolios/:portfolioId/report.html",
    "getExecutionQuality": "GET /v1/accounts/portfolios/:portfolioId/execution-quality",
    "getOrderExecutionQuality": "GET /v1/orders/:orderId/execution-quality",
    "listTaxLots": "GET /v1/accounts/portfolios/:portfolioId/tax-lots",
    "listRealizedGains": "GET /v1/accounts/portfolios/:portfolioId/realized-gains",
    "previewOrder": "POST /v1/orders/preview",
    "createKeyPair": "POST /v1/accounts/portfolios/:portfolioId/key-pairs",
    "listKeyPairs": "GET /v1/accounts/portfolios/:portfolioId/key-pairs",
    "revokeKeyPair": "DELETE /v1/accounts/portfolios/:portfolioId/key-pairs/:keyId",
    "createOrder": "POST /v1/orders",
    "createOrders": "POST /v1/orders/batch",
    "listOrders": "GET /v1/orders",
    "getOrder": "GET /v1/orders/:orderId",
    "updateOrder": "PUT /v1/orders/:orderId",
    "cancelOrder": "PUT /v1/orders/:orderId/cancel",
    "listExecutions": "GET /v1/orders/:orderId/executions",
    "listAccountOrders": "GET /v1/orders/account/:accountId",
    "cancelAccountOrders": "DELETE /v1/orders/account/:accountId",
    "listPortfolioOrders": "GET /v1/orders/portfolio/:portfolioId",
    "listFilledToday": "GET /v1/orders/filled/today",
    "computeRequirements": "POST /v1/margin/requirements",
    "getQuote": "GET /v1/market-data/quote/:symbol",
    "getQuotes": "POST /v1/market-data/quotes/batch",
    "getTrade": "GET /v1/market-data/trade/:symbol",
    "getBars": "GET /v1/market-data/bars/:symbol",
    "getBarsOfSymbols": "POST /v1/market-data/bars/batch",
    "getMarketHours": "GET /v1/market-data/market-hours",
    "getExchangeHours": "GET /v1/market-data/market-hours/:exchange",
    "isMarketOpen": "GET /v1/market-data/is-market-open/:symbol",
    "listOptionExpirations": "GET /v1/market-data/options/:underlying/expirations",
    "getOptionChain": "GET /v1/market-data/options/:underlying/chain",
    "listInstruments": "GET /v1/market-data/instruments",
    "getTradingCalendar": "GET /v1/market-data/calendar",
    "exchangeToken": "POST /v1/auth/token",
    "createAgentToken": "POST /v1/auth/agent-token",
    "getHealth": "GET /v1/health",
    "getReadiness": "GET /v1/ready",
    "getCluster": "GET /v1/cluster",
    "getServer": "GET /v1/server",
    "updateServerLimits": "PUT /v1/server/limits",
    "createStreamTicket": "POST /v1/stream/ticket",
    "streamOrders": "GET /v1/stream/orders",
    "streamPortfolios": "GET /v1/stream/portfolios",
    "streamQuotes": "GET /v1/stream/quotes",
    "pushQuotes": "PUT /v1/simulation/quotes",
    "getClock": "GET /v1/simulation/clock",
    "setClock": "PUT /v1/simulation/clock",
    "advanceClock": "POST /v1/simulation/clock/advance",
    "stepSimulation": "POST /v1/simulation/step",
    "stepSimulations": "POST /v1/simulations/step",
    "putInstruments": "PUT /v1/simulation/instruments",
    "addCorporateActions": "POST /v1/simulation/corporate-actions",
    "listCorporateActions": "GET /v1/simulation/corporate-actions",
    "withdrawCorporateAction": "DELETE /v1/simulation/corporate-actions/:actionId",
    "haltTrading": "POST /v1/simulation/halts",
    "listHalts": "GET /v1/simulation/halts",
    "liftHalt": "DELETE /v1/simulation/halts/:symbol",
    "createAlert": "POST /v1/alerts",
    "listAlerts": "GET /v1/alerts",
    "getAlert": "GET /v1/alerts/:alertId",
    "updateAlert": "PUT /v1/alerts/:alertId",
    "deleteAlert": "DELETE /v1/alerts/:alertId",
    "createOutcome": "POST /v1/simulation/outcomes",
    "fillFixture": "POST /v1/simulation/fixtures",
    "listFixtures": "GET /v1/simulation/fixtures",
    "listOutcomes": "GET /v1/simulation/outcomes",
    "deleteOutcome": "DELETE /v1/simulation/outcomes/:outcomeId",
    "deleteOutcomes": "DELETE /v1/simulation/outcomes",
    "createFault": "POST /v1/simulation/faults",
    "listFaults": "GET /v1/simulation/faults",
    "deleteFault": "DELETE /v1/simulation/faults/:faultId",
    "deleteFaults": "DELETE /v1/simulation/faults",
    "createComparison": "POST /v1/simulations/:simulationId/comparisons",
    "getComparison": "GET /v1/comparisons/:comparisonId",
    "cancelComparison": "DELETE /v1/comparisons/:comparisonId",
    "createSimulation": "POST /v1/simulations",
    "listSimulations": "GET /v1/simulations",
    "getSimulation": "GET /v1/simulations/:simulationId",
    "createSimulationToken": "POST /v1/simulations/:simulationId/token",
    "getSimulationMask": "GET /v1/simulations/:simulationId/mask",
    "exportSimulation": "GET /v1/simulations/:simulationId/export",
    "importSimulation": "POST /v1/simulations/import",
    "deleteSimulation": "DELETE /v1/simulations/:simulationId",
    "takeSnapshot": "POST /v1/simulations/:simulationId/snapshots",
    "listSnapshots": "GET /v1/simulations/:simulationId/snapshots",
    "deleteSnapshot": "DELETE /v1/simulations/:simulationId/snapshots/:snapshotId",
    "forkSimulation": "POST /v1/simulations/:simulationId/forks",
    "createWebhook": "POST /v1/webhooks",
    "listWebhooks": "GET /v1/webhooks",
    "getWebhook": "GET /v1/webhooks/:webhookId",
    "updateWebhook": "PUT /v1/webhooks/:webhookId",
    "deleteWebhook": "DELETE /v1/webhooks/:webhookId",
    "rotateWebhookSecret": "POST /v1/webhooks/:webhookId/rotate-secret",
    "testWebhook": "POST /v1/webhooks/:webhookId/test",
    "listWebhookDeliveries": "GET /v1/webhooks/:webhookId/deliveries",
    "redeliverWebhook": "POST /v1/webhooks/:webhookId/deliveries/:deliveryId/redeliver",
    "createInvitation": "POST /v1/invitations",
    "listInvitations": "GET /v1/invitations",
    "deleteInvitation": "DELETE /v1/invitations/:invitationId",
    "joinInvitation": "POST /v1/invitations/join",
    "returnToInvitation": "POST /v1/invitations/return",
    "listMembers": "GET /v1/invitations/:invitationId/members",
    "createMemberToken": "POST /v1/invitations/:invitationId/members/:memberId/token",
    "createMemberLink": "POST /v1/invitations/:invitationId/members/:memberId/link",
    "resetMember": "POST /v1/invitations/:invitationId/members/:memberId/reset",
    "deleteMember": "DELETE /v1/invitations/:invitationId/members/:memberId",
    "createCompetition": "POST /v1/competitions",
    "listCompetitions": "GET /v1/competitions",
    "getOwnEntry": "GET /v1/competitions/entry",
    "getCompetition": "GET /v1/competitions/:competitionId",
    "updateCompetition": "PUT /v1/competitions/:competitionId",
    "cancelCompetition": "DELETE /v1/competitions/:competitionId",
    "startCompetition": "POST /v1/competitions/:competitionId/start",
    "pauseCompetition": "POST /v1/competitions/:competitionId/pause",
    "finishCompetition": "POST /v1/competitions/:competitionId/finish",
    "enterCompetition": "POST /v1/competitions/:competitionId/entries",
    "listEntries": "GET /v1/competitions/:competitionId/entries",
    "createEntryToken": "POST /v1/competitions/:competitionId/entries/:entryId/token",
    "disqualifyEntry": "PUT /v1/competitions/:competitionId/entries/:entryId",
    "withdrawEntry": "DELETE /v1/competitions/:competitionId/entries/:entryId",
    "getLeaderboard": "GET /v1/competitions/:competitionId/leaderboard",
    "streamLeaderboard": "GET /v1/competitions/:competitionId/leaderboard/stream",
    "exportCompetition": "GET /v1/competitions/:competitionId/export",
    "getLeaderboardCurves": "GET /v1/competitions/:competitionId/leaderboard/curves",
    "createEvaluation": "POST /v1/evaluations",
    "listEvaluations": "GET /v1/evaluations",
    "listEvaluationSuites": "GET /v1/evaluations/suites",
    "getEvaluation": "GET /v1/evaluations/:evaluationId",
    "updateEvaluation": "PUT /v1/evaluations/:evaluationId",
    "deleteEvaluation": "DELETE /v1/evaluations/:evaluationId",
    "getEvaluationDefinition": "GET /v1/evaluations/:evaluationId/definition",
    "enterEvaluation": "POST /v1/evaluations/:evaluationId/entries",
    "listEvaluationEntries": "GET /v1/evaluations/:evaluationId/entries",
    "withdrawEvaluationEntry": "DELETE /v1/evaluations/:evaluationId/entries/:entryId",
    "getEvaluationMatrix": "GET /v1/evaluations/:evaluationId/matrix",
    "getEvaluationLeaderboard": "GET /v1/evaluations/:evaluationId/leaderboard",
    "exportEvaluation": "GET /v1/evaluations/:evaluationId/export",
    "getOwnCell": "GET /v1/evaluation",
    "finishCell": "POST /v1/evaluation/finish",
    "reportUsage": "POST /v1/evaluation/usage",
}
"""Every operation of the API by its name: method and path."""


# ---------------------------------------------------------------------------------------------------------------------- errors


class SandpitError(Exception):
    """Anything that this client raises by itself."""


class UnreachableError(SandpitError):
    """The server could not be reached, or did not answer, for as long as was tried."""


class WebhookVerificationError(SandpitError):
    """A delivery is not from the server whose secret is known, or too old."""


class NotFilledError(SandpitError):
    """An order ended without being filled, for those who asked for a fill."""

    def __init__(self, order):
        why = (order.get("rejection") or {}).get("message") or order.get("cancelReason")
        super().__init__(f"The order is {order['status']}" + (f": {why}" if why else ""))
        self.order = order


class AnswerError(SandpitError):
    """The server answered with an error: `status`, `messages`, `request_id` (its name in the log), `body`."""

    def __init__(self, status, messages, request_id, body, advice=""):
        super().__init__("; ".join(messages) + advice)
        self.status = status
        self.messages = messages
        self.request_id = request_id
        self.body = body


class ValidationError(AnswerError):
    """400 without a code: what was sent breaks a rule of its form."""


class UnauthorizedError(AnswerError):
    """401: no token, or one that is expired, revoked, or of another server."""


class NotFoundError(AnswerError):
    """404: it is not there, or somebody else's."""


class ConflictError(AnswerError):
    """409 without a code: not in the state that things are in."""


class CodedError(AnswerError):
    """An error with a `code`; `figures` are those of the code."""

    def __init__(self, status, messages, request_id, body, code, figures):
        super().__init__(status, messages, request_id, body)
        self.code = code
        self.figures = figures


class InsufficientFundsError(CodedError):
    """The order or withdrawal requires more cash, or in a margin portfolio more buying power, than is available."""


class InsufficientPositionError(CodedError):
    """The order or exercise requires more than the quantity that is held and not reserved."""


class MarketClosedError(CodedError):
    """The market is closed, and the order cannot wait for the open."""


class FeatureNotAvailableError(CodedError):
    """The subscription tier does not include the requested feature."""


class UnknownSymbolError(CodedError):
    """No instrument with this symbol is listed."""


class UnknownDeliverableError(CodedError):
    """The symbol is that of an adjusted option contract, which is not listed: list it with its deliverable first."""


class InstrumentNotTradableError(CodedError):
    """The instrument is listed but cannot be traded this way: it has expired, is halted, is an index, or has another asset class."""


class NotShortableError(CodedError):
    """The instrument cannot be sold short in this portfolio."""


class PositionConflictError(CodedError):
    """The portfolio holds the opposite position, which must be closed first."""


class OptionLevelError(CodedError):
    """The option level of the broker and portfolio does not allow the strategy."""


class DayTradeRestrictedError(CodedError):
    """Day-trading rules forbid opening or adding to a position."""


class MarginCallActiveError(CodedError):
    """The portfolio has an open margin call; only orders that reduce risk are accepted."""


class MarginNotEligibleError(CodedError):
    """The portfolio does not meet the conditions of the margin type."""


class AccountFrozenError(CodedError):
    """The account is frozen: it allows reads and cancels, and no other change of orders, cash or portfolios."""


class BrokerRestrictionError(CodedError):
    """The broker configuration of the portfolio does not offer the requested feature."""


class OrderNotUpdatableError(CodedError):
    """The status of the order does not allow an update or cancel."""


class DuplicateClientOrderIdError(CodedError):
    """An order of the portfolio already has this clientOrderId."""


class PortfolioNotEmptyError(CodedError):
    """The portfolio cannot be closed while it has positions, open orders, unsettled items or debts."""


class WebhookAddressRefusedError(CodedError):
    """The server sends no events to the address of the URL."""


class RateLimitedError(CodedError):
    """The tenant exceeded the request limit of the route."""


class InsufficientScopeError(CodedError):
    """The token lacks the scope that the route requires."""


class StaleMarketDataError(CodedError):
    """The request requires a quote, and the latest one is too old."""


class MarketDataLimitError(CodedError):
    """The plan of the live market data source allows no more symbols, and all of them are in use."""


class EphemeralFullError(CodedError):
    """The ephemeral simulations of the tenant, or of all tenants together, use as much memory as they may. Nothing was changed; delete some of them."""


class ServiceUnavailableError(CodedError):
    """The service cannot commit, is starting or is shutting down. Nothing was changed; try again."""


class LevelTooLowError(CodedError):
    """The level of the agent's token does not allow the operation."""


class CapExceededError(CodedError):
    """The order exceeds a cap of the agent's token."""


class AuctionClosedError(CodedError):
    """The order's auction accepts no more orders."""


class TradingHaltedError(CodedError):
    """Trading is halted and the order cannot wait for its end."""


class CompetitionRuleError(CodedError):
    """A rule of the competition forbids the order, or has eliminated the entry."""


class EntryTokenError(CodedError):
    """The token of an entry does not allow the operation."""


class RecordingInUseError(CodedError):
    """The tenant has entered a competition or evaluation on the recording that the simulation replays, and that is not over."""


class JoinCodeError(CodedError):
    """The join code of the competition is missing or wrong."""


class CompetitionNotRunningError(CodedError):
    """The competition does not accept the request in its present status."""


class CompetitionStartedError(CodedError):
    """Market, rules and scoring of a competition are fixed once the first entry exists."""


class CompetitionFullError(CodedError):
    """The competition has as many entries as its capacity."""


class AlreadyEnteredError(CodedError):
    """The tenant has as many entries as the competition allows."""


class InvitationFullError(CodedError):
    """The invitation, or the tenant that invites, has as many members as its limit."""


class InvitationExpiredError(CodedError):
    """The invitation has expired."""


class CompetitionNotFinishedError(CodedError):
    """The simulations of a competition cannot be forked, exported, stepped or deleted before it is over."""


class EvaluationStartedError(CodedError):
    """An evaluation is fixed once it has an entry."""


class EvaluationNotRunningError(CodedError):
    """The run has ended: orders and the clock are closed, reads go on."""


class EvaluationNotFinishedError(CodedError):
    """The request requires cells of an evaluation that have ended."""


ERROR_CLASSES = {
    "INSUFFICIENT_FUNDS": InsufficientFundsError,
    "INSUFFICIENT_POSITION": InsufficientPositionError,
    "MARKET_CLOSED": MarketClosedError,
    "TRADING_HALTED": TradingHaltedError,
    "AUCTION_CLOSED": AuctionClosedError,
    "FEATURE_NOT_AVAILABLE": FeatureNotAvailableError,
    "UNKNOWN_SYMBOL": UnknownSymbolError,
    "UNKNOWN_DELIVERABLE": UnknownDeliverableError,
    "INSTRUMENT_NOT_TRADABLE": InstrumentNotTradableError,
    "NOT_SHORTABLE": NotShortableError,
    "POSITION_CONFLICT": PositionConflictError,
    "OPTION_LEVEL": OptionLevelError,
    "DAY_TRADE_RESTRICTED": DayTradeRestrictedError,
    "MARGIN_CALL_ACTIVE": MarginCallActiveError,
    "MARGIN_NOT_ELIGIBLE": MarginNotEligibleError,
    "ACCOUNT_FROZEN": AccountFrozenError,
    "BROKER_RESTRICTION": BrokerRestrictionError,
    "ORDER_NOT_UPDATABLE": OrderNotUpdatableError,
    "DUPLICATE_CLIENT_ORDER_ID": DuplicateClientOrderIdError,
    "PORTFOLIO_NOT_EMPTY": PortfolioNotEmptyError,
    "WEBHOOK_ADDRESS_REFUSED": WebhookAddressRefusedError,
    "RATE_LIMITED": RateLimitedError,
    "INSUFFICIENT_SCOPE": InsufficientScopeError,
    "STALE_MARKET_DATA": StaleMarketDataError,
    "MARKET_DATA_LIMIT": MarketDataLimitError,
    "EPHEMERAL_FULL": EphemeralFullError,
    "SERVICE_UNAVAILABLE": ServiceUnavailableError,
    "LEVEL_TOO_LOW": LevelTooLowError,
    "CAP_EXCEEDED": CapExceededError,
    "COMPETITION_RULE": CompetitionRuleError,
    "ENTRY_TOKEN": EntryTokenError,
    "RECORDING_IN_USE": RecordingInUseError,
    "JOIN_CODE": JoinCodeError,
    "COMPETITION_NOT_RUNNING": CompetitionNotRunningError,
    "COMPETITION_STARTED": CompetitionStartedError,
    "COMPETITION_FULL": CompetitionFullError,
    "ALREADY_ENTERED": AlreadyEnteredError,
    "INVITATION_FULL": InvitationFullError,
    "INVITATION_EXPIRED": InvitationExpiredError,
    "COMPETITION_NOT_FINISHED": CompetitionNotFinishedError,
    "EVALUATION_STARTED": EvaluationStartedError,
    "EVALUATION_NOT_RUNNING": EvaluationNotRunningError,
    "EVALUATION_NOT_FINISHED": EvaluationNotFinishedError,
}
"""The class of each code."""


def verify_webhook(secret, headers, body, tolerance=300):
    """The payload of a delivery whose signature and time are right (Standard Webhooks 1.0).

    `headers` is a mapping, `body` the bytes or the text of the request as they came. Raises `WebhookVerificationError`.
    """
    given = {name.lower(): value for name, value in headers.items()}
    text = body if isinstance(body, bytes) else body.encode()
    try:
        name, timestamp, signatures = (given[f"webhook-{part}"] for part in ("id", "timestamp", "signature"))
        age = abs(time.time() - int(timestamp))
    except (KeyError, ValueError):
        raise WebhookVerificationError("The request lacks a header of Standard Webhooks") from None
    if age > tolerance:
        raise WebhookVerificationError("The timestamp is too far from now")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{name}.{timestamp}.".encode() + text, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(expected, one.encode()) for one in signatures.split(" ")):
        raise WebhookVerificationError("No signature matches the secret")
    return json.loads(text)


def _error_of(status, body, request_id, base_url):
    said = body.get("message") if isinstance(body, dict) else None
    messages = [one if isinstance(one, str) else f"HTTP {status}" for one in (said if isinstance(said, list) else [said])]
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict) and "code" in error:
        figures = {name: value for name, value in error.items() if name != "code"}
        # A code of a newer server is no less an error.
        known = ERROR_CLASSES.get(error["code"], CodedError)
        return known(status, messages, request_id, body, error["code"], figures)
    advice = ""
    if status == 401:
        advice = f": {base_url} does not accept this token. Get another one (sandpit token, or an API key)"
    elif status == 404 and said == "Route not found":
        advice = f": {base_url} is a Sandpit of another version than this client. Install the same of both"
    known = {400: ValidationError, 401: UnauthorizedError, 404: NotFoundError, 409: ConflictError}.get(status, AnswerError)
    return known(status, messages, request_id, body, advice)


# ------------------------------------------------------------------------------------------------------------------- transport

_UNDER_WAY = "A request with this Idempotency-Key is under way"
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0
_ANSWER_WITHIN = 60.0
# A stream that says nothing for this long, heartbeats included, is dead.
_SILENCE = 90.0
_BROKEN = (OSError, http.client.HTTPException)


class _Transport:
    """Requests that are tried again, and do nothing twice. May be used by several threads: each has its own connection."""

    def __init__(self, url, token, api_key, retry_for):
        self.base_url = re.sub(r"/+(v1/?)?$", "", url)
        parts = urllib.parse.urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise SandpitError(f"{url} is no URL of a server: http://HOST:PORT is")
        self._is_secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port or (443 if self._is_secure else 80)
        self._prefix = parts.path
        self._api_key = api_key
        self._token = token
        self._lock = threading.Lock()
        self._local = threading.local()
        self._kept = set()
        self._retry_for = retry_for

    def connection(self, timeout):
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=timeout)

    def close(self):
        """Closes the connections that are kept for the next request; another one opens them again."""
        with self._lock:
            kept, self._kept = self._kept, set()
        self._local = threading.local()
        for connection in kept:
            connection.close()

    def send(self, method, path, query=None, body=None, idempotency_key=None, csv=None):
        """The body of the answer, and the cursor of the next page where there is one. Raises what is above."""
        headers = {}
        if csv is not None:
            headers["Content-Type"] = "text/csv"
            body = csv.encode()
        elif body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body, allow_nan=False)
        if method == "POST":
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        url = self.url_of(path, query)
        return self._tried(lambda: self._once(method, url, headers, body))

    def upload(self, path, file):
        """Sends a file of lines of JSON, once. The body of the answer."""
        headers = {"Content-Type": "application/x-ndjson"}
        connection = self.connection(_ANSWER_WITHIN)
        try:
            response = self._answer(connection, "POST", self.url_of(path, None), headers, file)
            if response.status >= 400:
                raise self._error(response)
            return json.loads(response.read())
        except _BROKEN as error:
            raise UnreachableError(f"No Sandpit answers at {self.base_url}: {error or type(error).__name__}.") from error
        finally:
            connection.close()

    def open(self, path, query, headers, timeout):
        """A stream: the connection, which is the caller's to close, and the answer."""
        url = self.url_of(path, query)

        def once():
            connection = self.connection(timeout)
            try:
                response = self._answer(connection, "GET", url, headers, None)
                if response.status == 200:
                    return connection, response
                raise self._error(response)
            except BaseException:
                connection.close()
                raise

        return self._tried(once)

    def url_of(self, path, query):
        given = {}
        for name, value in (query or {}).items():
            if value is None:
                continue
            given[name] = ("true" if value else "false") if isinstance(value, bool) else str(value)
        text = urllib.parse.urlencode(given)
        return self._prefix + path + (f"?{text}" if text else "")

    def _tried(self, once):
        give_up_at = time.monotonic() + self._retry_for
        may_renew = self._api_key is not None
        tries = 0
        while True:
            try:
                return once()
            except UnauthorizedError:
                if not may_renew:
                    raise
                may_renew = False
                with self._lock:
                    self._token = None
                continue
            except _BROKEN as error:
                failure = UnreachableError(
                    f"No Sandpit answers at {self.base_url}: {error or type(error).__name__}. Is it running (sandpit up)?"
                )
                failure.__cause__ = error
                pause = 0.0
            except AnswerError as error:
                # The first try of one under way, whose answer was lost, is not over yet.
                is_under_way = isinstance(error, ConflictError) and str(error) == _UNDER_WAY
                if not is_under_way and (error.status not in (429, 503) or isinstance(error, EphemeralFullError)):
                    raise
                failure = error
                pause = float(getattr(error, "retry_after", None) or 0)
            pause = max(pause, min(_FIRST_PAUSE * 2**tries, _LONGEST_PAUSE) * random.uniform(0.5, 1))
            if time.monotonic() + pause > give_up_at:
                raise failure
            time.sleep(pause)
            tries += 1

    def _once(self, method, url, headers, body):
        connection = getattr(self._local, "connection", None)
        is_used = connection is not None
        if connection is None:
            connection = self._local.connection = self.connection(_ANSWER_WITHIN)
            with self._lock:
                self._kept.add(connection)
        try:
            try:
                response = self._answer(connection, method, url, headers, body)
            except _BROKEN:
                # The server closes connections that nothing was asked on: that is no failure of this request.
                if not is_used:
                    raise
                connection.close()
                response = self._answer(connection, method, url, headers, body)
            if response.status >= 400:
                raise self._error(response)
            text = response.read()
        except AnswerError:
            raise
        except BaseException:
            connection.close()
            self._local.connection = None
            with self._lock:
                self._kept.discard(connection)
            raise
        try:
            return (json.loads(text) if text else None), response.getheader("X-Next-Cursor")
        except ValueError:
            raise self._stranger(response.status) from None

    def _answer(self, connection, method, url, headers, body):
        token = self._bearer()
        bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
        connection.request(method, url, body=body, headers={**headers, **bearer})
        return connection.getresponse()

    def _stranger(self, status):
        return SandpitError(f"{self.base_url} answers, but not as a Sandpit does (HTTP {status}): is that its address?")

    def _error(self, response):
        text = response.read()
        try:
            body = json.loads(text)
        except ValueError:
            return self._stranger(response.status)
        error = _error_of(response.status, body, response.getheader("X-Request-Id"), self.base_url)
        error.retry_after = response.getheader("Retry-After")
        return error

    def _bearer(self):
        if self._api_key is None:
            return self._token
        with self._lock:
            if self._token is None:
                self._token = self._exchange()
            return self._token

    def _exchange(self):
        connection = self.connection(_ANSWER_WITHIN)
        try:
            body = json.dumps({"apiKey": self._api_key})
            connection.request("POST", f"{self._prefix}/v1/auth/token", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status >= 400:
                raise self._error(response)
            return json.loads(response.read())["token"]
        finally:
            connection.close()


# --------------------------------------------------------------------------------------------------------------------- streams

_OPEN = object()


def _messages(transport, path, query, last_event_id, deadline=None):
    """What a stream tells, for as long as somebody reads: `(id, event, data)`, and `(None, _OPEN, None)` whenever it is open.

    A connection that is lost is opened again from the last event on: none is missed, none comes twice.
    """
    last = last_event_id
    failures = 0
    while True:
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        connection = None
        try:
            connection, response = transport.open(path, query, headers, _left(deadline))
            yield None, _OPEN, None
            for event_id, event, data in _events(connection, response, deadline):
                failures = 0
                if event_id:
                    last = event_id
                if event == "error":
                    # The server says why it ends a stream; whether it gives another is seen when it is asked.
                    break
                if event not in ("", "heartbeat"):
                    yield event_id, event, data
        except _BROKEN + (UnreachableError, ServiceUnavailableError, RateLimitedError):
            pass
        finally:
            if connection is not None:
                connection.close()
        failures += 1
        _left(deadline)
        time.sleep(min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE) * random.random())


def _left(deadline):
    """How long to wait for the next word."""
    if deadline is None:
        return _SILENCE
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("The order was not over in time")
    return min(left, _SILENCE)


def _events(connection, response, deadline):
    """Parses server-sent events; ends with the connection."""
    fields = {}
    while True:
        if deadline is not None and connection.sock is not None:
            connection.sock.settimeout(_left(deadline))
        line = response.readline()
        if not line:
            return
        text = line.decode("utf-8").rstrip("\r\n")
        if text:
            name, colon, value = text.partition(":")
            if colon and name:
                fields[name] = value[1:] if value.startswith(" ") else value
            continue
        if fields:
            data = fields.get("data")
            yield fields.get("id", ""), fields.get("event", ""), None if data is None else json.loads(data)
        fields = {}


# ---------------------------------------------------------------------------------------------------------------------- client

_OVER = frozenset(("FILLED", "CANCELED", "REJECTED", "ERROR"))
_NOT_KEPT = "Events after the last one are no longer retained: read the current state, then follow again"


class Client:
    """A Sandpit, by one token."""

    def __init__(self, url, token=None, api_key=None, retry_for=30.0):
        """An API key is changed into a token, and into another one when that has expired. `retry_for`: seconds a request is
        tried again after network errors, 429 and 503."""
        self.transport = _Transport(url, token, api_key, retry_for)

    @property
    def url(self):
        return self.transport.base_url

    def close(self):
        """Closes its connections. `with connect() as client:` does that at the end."""
        self.transport.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, operation, params=None, query=None, body=None, idempotency_key=None):
        """Any operation of the API by its name (`OPERATIONS`): the names in its path, its query, its body. The answer's body."""
        return self._send(operation, params, query, body, idempotency_key)[0]

    def list(self, operation, params=None, query=None):
        """Every item of a list, page after page: neither missed nor shown twice, whatever comes in meanwhile."""
        cursor = None
        while True:
            asked = {"limit": 500, **(query or {}), "cursor": cursor}
            page, cursor = self._send(operation, params, asked, None, None)
            yield from page["data"]
            if cursor is None:
                return

    def csv(self, operation, path, params=None, query=None):
        """Writes a whole list to a file of CSV: every row of it, whatever `limit` says."""
        self._save(operation, path, params, query, "text/csv")

    def report(self, portfolio_id, path, **query):
        """Writes the report of a portfolio, a self-contained page of HTML, to a file."""
        self._save("getReport", path, {"portfolioId": portfolio_id}, query, "text/html")

    def _save(self, operation, path, params, query, accept):
        where = _path_of(operation, params)[1]
        connection, response = self.transport.open(where, query, {"Accept": accept}, _ANSWER_WITHIN)
        try:
            with open(path, "wb") as file:
                shutil.copyfileobj(response, file)
        finally:
            connection.close()

    def export_simulation(self, simulation_id, path):
        """Writes a simulation to a file that `import_simulation` accepts, here or on another server."""
        where = f"/v1/simulations/{urllib.parse.quote(simulation_id, safe='')}/export"
        connection, response = self.transport.open(where, None, {}, _ANSWER_WITHIN)
        try:
            with open(path, "wb") as file:
                shutil.copyfileobj(response, file)
        finally:
            connection.close()

    def export_competition(self, competition_id, path):
        """Writes a finished competition to a file that `sandpit competition verify` checks."""
        where = f"/v1/competitions/{urllib.parse.quote(competition_id, safe='')}/export"
        connection, response = self.transport.open(where, None, {}, _ANSWER_WITHIN)
        try:
            with open(path, "wb") as file:
                shutil.copyfileobj(response, file)
        finally:
            connection.close()

    def import_simulation(self, path):
        """Creates a simulation from a file. `getSimulation` shows its `status`: IMPORTING, then READY or FAILED."""
        with open(path, "rb") as file:
            return self.transport.upload("/v1/simulations/import", file)

    def _send(self, operation, params, query, body, idempotency_key):
        method, path = _path_of(operation, params)
        return self.transport.send(method, path, query, body, idempotency_key)

    def open_portfolio(self, cash=None, portfolio_type="CASH", account_type="INDIVIDUAL", broker_id="default", account_id=None, **more):
        """Opens a portfolio, in a new account unless one is named."""
        body = {
            "accountId": account_id or str(uuid.uuid4()),
            "portfolioType": portfolio_type,
            "accountType": account_type,
            "brokerId": broker_id,
            **more,
        }
        if cash is not None:
            body["initialCash"] = cash
        return self.portfolio(self.call("createPortfolio", body=body)["portfolioId"])

    def portfolio(self, portfolio_id):
        """A portfolio that is there. Asks nothing yet."""
        return Portfolio(self, portfolio_id)

    def portfolios(self):
        """All open portfolios, in short."""
        return list(self.list("listPortfolios"))

    def order(self, order_id):
        """An order as it stands."""
        return Order(self, self.call("getOrder", {"orderId": order_id}))

    def orders(self, **query):
        """Orders of all accounts, newest first; filters by their names in the API (`status`, `symbol`, `portfolioId`, …)."""
        return self.list("listOrders", query=query)

    def quote(self, symbol):
        """The quote in force."""
        return self.call("getQuote", {"symbol": symbol})

    def quotes(self, symbols):
        """The quotes in force of many symbols."""
        return self.call("getQuotes", body={"symbols": list(symbols)})["quotes"]

    def bars(self, symbol, **query):
        """Open, high, low, close, volume; `timeframe`, `start`, `end`, `limit` as the API has them."""
        return self.call("getBars", {"symbol": symbol}, query)

    def option_chain(self, underlying, **query):
        """Calls and puts with quotes, implied volatility and Greeks."""
        return self.call("getOptionChain", {"underlying": underlying}, query)

    def option_expirations(self, underlying):
        return self.call("listOptionExpirations", {"underlying": underlying})

    def clock(self):
        return self.call("getClock")

    def advance(self, by):
        """Lets time pass in a simulation whose clock is told to: `PT5M`, `P1D` (the same time on the next date). Everything due on the way has then happened."""
        return self.call("advanceClock", body={"by": by})

    def step(self, orders=(), cancels=(), quotes=(), advance=None, observe=None):
        """One step of a simulation with a manual clock: places orders, cancels, pushes quotes, lets time pass, then looks (D174).

        `orders`: bodies in the words of the API (`order_of` with a `portfolioId`). `advance`: `{"until": "next-bar"}`, `{"to": …}` or
        `{"by": "PT1M"}`. `observe`: `symbols`, `portfolios`, `orders`. A walk to an instant that the server stops half-way is
        continued, its `events` put together; after `by`, `hasMore` may be true.
        """
        body = {"orders": list(orders), "cancels": list(cancels), "quotes": list(quotes), "advance": advance, "observe": observe}
        result = self.call("stepSimulation", body={name: value for name, value in body.items() if value})
        on = {name: value for name, value in (("advance", advance), ("observe", observe)) if value}
        while result["hasMore"] and "by" not in advance:
            later = self.call("stepSimulation", body=on)
            answers = {name: result[name] for name in ("orders", "cancels")}
            result = {**later, **answers, "events": result["events"] + later["events"]}
        return result

    def order_events(self, account_id=None, portfolio_id=None, last_event_id=None):
        """What happens to orders from now on, or from an event on: dictionaries with `event`, and `eventId` to go on from."""
        query = {"accountId": account_id, "portfolioId": portfolio_id}
        return self._follow("/v1/stream/orders", query, last_event_id)

    def portfolio_events(self, portfolio_id=None, account_id=None, portfolio_ids=None):
        """Portfolios with their positions: as they are, then as they change. `portfolio_ids`: a list of at most 100."""
        several = ",".join(portfolio_ids) if portfolio_ids else None
        query = {"portfolioId": portfolio_id, "accountId": account_id, "portfolioIds": several}
        return self._follow("/v1/stream/portfolios", query, None)

    def quote_events(self, symbols):
        """Quotes of up to 100 symbols: those in force, then as they change."""
        return self._follow("/v1/stream/quotes", {"symbols": ",".join(symbols)}, None, ("quote",))

    def halt_events(self, symbols):
        """Halts of trading in up to 100 symbols, and their ends: dictionaries with `event` `halt` or `resume`."""
        return self._follow("/v1/stream/quotes", {"symbols": ",".join(symbols)}, None, ("halt", "resume"))

    def _follow(self, path, query, last_event_id, names=None):
        for event_id, event, data in _messages(self.transport, path, query, last_event_id):
            if event is _OPEN:
                continue
            if event == "reset":
                raise SandpitError(_NOT_KEPT)
            if names is not None and event not in names:
                continue
            yield {**data, **({"event": event} if names is not None and len(names) > 1 else {}), "eventId": event_id}

    def settled(self, order_id, timeout=None):
        """Waits for an order to be over, told by the stream. `TimeoutError` after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        messages = _messages(self.transport, "/v1/stream/orders", {}, None, deadline)
        with contextlib.closing(messages):
            for _, event, data in messages:
                if event is _OPEN or event == "reset":
                    # What happened before the stream was open, it does not tell.
                    data = self.call("getOrder", {"orderId": order_id})
                if data["orderId"] == order_id and data["status"] in _OVER:
                    return {name: value for name, value in data.items() if name not in ("event", "execution", "executions")}
        raise AssertionError("a stream without an end has ended")


def _path_of(operation, params):
    """The method of an operation, and its path with the names in it."""
    method, template = OPERATIONS[operation].split(" ")
    given = params or {}
    return method, re.sub(r":(\w+)", lambda name: urllib.parse.quote(str(given[name[1]]), safe=""), template)


def to_dataframe(rows):
    """A pandas DataFrame of rows (of a list, or the `series` of a performance), its instants and dates as such. Needs pandas."""
    try:
        import pandas
    except ImportError:
        raise SandpitError("to_dataframe needs pandas: pip install pandas") from None
    frame = pandas.DataFrame(list(rows))
    for name in frame.columns:
        if name in ("at", "date", "holdingFrom", "expiration") or name.endswith("At"):
            frame[name] = pandas.to_datetime(frame[name], format="ISO8601", utc=True)
    return frame


class Portfolio:
    """A portfolio, and orders against it."""

    def __init__(self, client, portfolio_id):
        self.client = client
        self.id = portfolio_id

    def buy(self, symbol, quantity=None, **options):
        """Buys, to open or to add; `notional=` in place of a quantity: for so many dollars. For the options see `order_of`, and `idempotency_key`: the same key places the order once."""
        return self._place("BUY_TO_OPEN", symbol, quantity, options)

    def sell(self, symbol, quantity=None, **options):
        """Sells what is held. `take_profit` with `stop_loss`: a pair of which each cancels the other."""
        return self._place("SELL_TO_CLOSE", symbol, quantity, options)

    def short(self, symbol, quantity, **options):
        """Sells what is not held."""
        return self._place("SELL_TO_OPEN", symbol, quantity, options)

    def cover(self, symbol, quantity, **options):
        """Buys back what was sold short."""
        return self._place("BUY_TO_CLOSE", symbol, quantity, options)

    def spread(self, strategy, legs, limit=None, **more):
        """An order of several options, filled whole at a net price (a credit is negative).

        `legs`: `(option symbol, contracts)`, contracts sold being negative, or dictionaries in the words of the API, as closing
        legs must be. `more`: fields of the order in the words of the API.
        """
        body = spread_of(strategy, legs, limit, **more)
        return self.submit(body)

    def submit(self, order, idempotency_key=None):
        """An order in the words of the API."""
        body = {**order, "portfolioId": self.id}
        return Order(self.client, self.client.call("createOrder", body=body, idempotency_key=idempotency_key))

    def preview(self, order):
        """What an order (`order_of`, `spread_of`) would do. Places nothing."""
        return self.client.call("previewOrder", body={**order, "portfolioId": self.id})

    def show(self):
        """Balances, requirements, buying power."""
        return self.client.call("getPortfolio", {"portfolioId": self.id})

    def positions(self):
        """Shares that are held or short."""
        return self.client.call("listEquityPositions", {"portfolioId": self.id})

    def options(self):
        """Options that are held or short, with marks and Greeks."""
        return self.client.call("listOptionPositions", {"portfolioId": self.id})

    def futures(self):
        """Futures that are held or short."""
        return self.client.call("listFuturePositions", {"portfolioId": self.id})

    def import_positions(self, positions=None, cash=None, file=None, **query):
        """Imports cash and positions into the empty portfolio.

        `positions`: dictionaries with `symbol`, `quantity` and optionally `price`, `acquiredAt`, `lots`. `file`: the text of a broker's
        positions file instead. `query`: `format`, `account`, `skip="unsupported"`.
        """
        if file is not None and positions is None and cash is None and not file.lstrip().startswith(("[", "{")):
            # As a string in JSON a file may have 256 KiB; as the whole body it may be larger.
            method, path = _path_of("importPositions", {"portfolioId": self.id})
            return self.client.transport.send(method, path, query, csv=file)[0]
        given = {"positions": positions, "cash": cash, "file": file}
        body = {name: value for name, value in given.items() if value is not None}
        return self.client.call("importPositions", {"portfolioId": self.id}, query, body)

    def activities(self, **query):
        """What happened, newest first."""
        return self.client.list("listActivities", {"portfolioId": self.id}, query)

    def performance(self, **query):
        """Return, risk, drawdown and trade statistics; `series=True` adds every valuation."""
        return self.client.call("getPerformance", {"portfolioId": self.id}, query)

    def trades(self, **query):
        """Round trips, newest first."""
        return self.client.list("listTrades", {"portfolioId": self.id}, query)

    def execution_quality(self, **query):
        """Slippage, shortfall and spreads of the orders; `groupBy="symbol"` adds groups."""
        return self.client.call("getExecutionQuality", {"portfolioId": self.id}, query)

    def realized_gains(self, **query):
        """Sales of a tax year, newest first. Not tax advice."""
        return self.client.list("listRealizedGains", {"portfolioId": self.id}, query)

    def tax_lots(self, **query):
        """Open tax lots with their adjusted basis, by symbol, then by date. Not tax advice."""
        return self.client.list("listTaxLots", {"portfolioId": self.id}, query)

    def report(self, path, **query):
        """Writes a report, a self-contained page of HTML, to a file."""
        self.client.report(self.id, path, **query)

    def _place(self, intent, symbol, quantity, options):
        key = options.pop("idempotency_key", None)
        return self.submit(order_of(intent, symbol, quantity, **options), key)


class Order:
    """An order of a portfolio. `data` is as it was told last."""

    def __init__(self, client, data):
        self.client = client
        self.data = data

    @property
    def id(self):
        return self.data["orderId"]

    @property
    def status(self):
        return self.data["status"]

    def refresh(self):
        """Asks how it stands."""
        self.data = self.client.call("getOrder", {"orderId": self.id})
        return self

    def settled(self, timeout=None):
        """Waits until it is over, however that may be; told by the stream."""
        if self.status not in _OVER or "filledQuantity" not in self.data:
            self.data = self.client.settled(self.id, timeout)
        return self.data

    def filled(self, timeout=None):
        """Waits until it is filled. `NotFilledError` where it ends otherwise."""
        order = self.settled(timeout)
        if order["status"] != "FILLED":
            raise NotFilledError(order)
        return order

    def cancel(self):
        """Cancels it. One that a lost answer had canceled already counts as canceled."""
        try:
            return self.client.call("cancelOrder", {"orderId": self.id})
        except OrderNotUpdatableError:
            if self.refresh().status != "CANCELED":
                raise
            return {"status": "CANCELED"}

    def update(self, **changes):
        """Changes prices, quantity or time in force, by their names in the API: `limitPrice=101`."""
        self.client.call("updateOrder", {"orderId": self.id}, body=changes)
        return self.refresh()

    def executions(self):
        """Its executions, newest first, each with the quote behind it."""
        return list(self.client.list("listExecutions", {"orderId": self.id}))


_OPTION = re.compile(r"^[A-Za-z.]{1,6}\s*\d{6}[CP]\d{8}$")
_FUTURE = re.compile(r"^/|^[A-Z0-9]{1,3}[FGHJKMNQUVXZ]\d{2}$")


def order_of(
    intent,
    symbol,
    quantity,
    limit=None,
    stop=None,
    trail=None,
    trail_percent=None,
    take_profit=None,
    stop_loss=None,
    time_in_force="DAY",
    asset_class=None,
    notional=None,
    **more,
):
    """The body of an order. Its type follows from the prices, its asset class from the symbol; `take_profit` and `stop_loss` make a
    bracket, of a closing order a pair with `take_profit` as its limit; `notional`: dollars in place of a quantity; `more`: fields in the words of the API (`clientOrderId`, `notes`, `session`, `goodTillDate`, `recordRefusal`, …)."""
    is_pair = intent.endswith("_TO_CLOSE") and stop_loss is not None
    if is_pair and limit is None:
        limit, take_profit = take_profit, None
    if trail is not None or trail_percent is not None:
        kind = "TRAILING_STOP" if limit is None else "TRAILING_STOP_LIMIT"
    elif stop is not None:
        kind = "STOP" if limit is None else "STOP_LIMIT"
    else:
        kind = "MARKET" if limit is None else "LIMIT"
    if asset_class is None:
        asset_class = "OPTION" if _OPTION.match(symbol) else "FUTURE" if _FUTURE.match(symbol) else "EQUITY"
    exits = {}
    if take_profit is not None:
        exits["profitTarget"] = {"orderType": "LIMIT", "limitPrice": take_profit}
    if stop_loss is not None:
        exits["stopLoss"] = {"orderType": "STOP", "stopPrice": stop_loss}
    prices = {"limitPrice": limit, "stopPrice": stop, "trailingAmount": trail, "trailingPercent": trail_percent}
    return {
        "symbol": symbol,
        "assetClass": asset_class,
        "orderType": kind,
        "positionIntent": intent,
        **({"quantity": quantity} if notional is None else {"notional": notional}),
        "timeInForce": time_in_force,
        **{name: price for name, price in prices.items() if price is not None},
        **({"ocoConfig" if is_pair else "bracketConfig": exits} if exits else {}),
        **more,
    }


def spread_of(strategy, legs, limit=None, time_in_force="DAY", **more):
    """The body of an order of several options."""
    told = [leg if isinstance(leg, dict) else _opening(*leg) for leg in legs]
    first = told[0]
    # A roll, which closes and opens, is an opening order; a negative limit is a credit.
    opens = any(leg["positionIntent"].endswith("OPEN") for leg in told)
    is_credit = limit is not None and limit < 0
    side = "SELL" if is_credit or first["positionIntent"].startswith("SELL") else "BUY"
    return {
        "symbol": re.sub(r"\s*\d{6}[CP]\d{8}$", "", first["optionSymbol"]),
        "assetClass": "OPTION",
        "orderType": "MARKET" if limit is None else "LIMIT",
        "positionIntent": f"{side}_TO_{'OPEN' if opens else 'CLOSE'}",
        "timeInForce": time_in_force,
        "strategy": strategy,
        "legs": told,
        **({} if limit is None else {"limitPrice": limit}),
        **more,
    }


def _opening(symbol, contracts):
    intent = "BUY_TO_OPEN" if contracts > 0 else "SELL_TO_OPEN"
    return {"optionSymbol": symbol, "positionIntent": intent, "quantity": abs(contracts)}


def connect(url=None, token=None, api_key=None, retry_for=30.0):
    """A client for a server and credentials. Server: `url`, else SANDPIT_URL, else the one whose data directory this is (DATA_DIR, ./data),
    else port 3000 of this machine. Credentials: `token` or `api_key`, else SANDPIT_TOKEN or SANDPIT_API_KEY, else the demo credentials of
    that directory. Sends no request yet."""
    demo = _demo_credentials(os.environ.get("DATA_DIR", "./data"))
    where = url or os.environ.get("SANDPIT_URL") or demo.get("baseUrl") or "http://127.0.0.1:3000"
    if token is None and api_key is None:
        token, api_key = os.environ.get("SANDPIT_TOKEN"), os.environ.get("SANDPIT_API_KEY")
    if token is None and api_key is None:
        # The key outlives every token.
        api_key, token = demo.get("apiKey"), demo.get("token")
    if token is None and api_key is None:
        raise SandpitError(
            "No credentials: set SANDPIT_TOKEN or SANDPIT_API_KEY, or run in the directory of a server, beside its ./data (sandpit up)"
        )
    return Client(where, None if api_key else token, api_key, retry_for)


def _demo_credentials(directory):
    try:
        with open(os.path.join(directory, "demo-credentials.json"), encoding="utf-8") as file:
            demo = json.load(file)
    except (OSError, ValueError):
        return {}
    return demo if isinstance(demo, dict) and "baseUrl" in demo else {}


# ----------------------------------------------------------------------------------------------------------------------- tests

_START = "2026-01-05T10:00:00-05:00"
# The same in every sandbox, as everything else.
_ACCOUNT = "00000000-0000-4000-8000-000000000001"
_STARTS_WITHIN = 30.0


class Sandbox:
    """A simulation for one test: a market and a clock that do what they are told, and a portfolio. `with Sandbox(cash=10_000) as sim:`"""

    def __init__(self, start=_START, seed=1, cash=None, feed="push", calendar="XNYS", portfolio_type="CASH", server=None, ephemeral=True):
        self._owner = server or shared_server()
        body = {"feed": feed, "clock": "manual", "calendar": calendar, "start": start, "seed": seed, "ephemeral": ephemeral}
        made = self._owner.call("createSimulation", body=body)
        self.simulation_id = made["simulationId"]
        self.client = Client(self._owner.url, made["token"])
        self.portfolio = self.client.open_portfolio(cash, portfolio_type, account_id=_ACCOUNT)

    def quote(self, symbol, bid, ask, **more):
        """Pushes a quote. Returns when all affected orders are processed."""
        self.client.call("pushQuotes", body={"quotes": [{"symbol": symbol, "bid": bid, "ask": ask, **more}]})

    def advance(self, by):
        """Lets time pass: `PT5M`, `P1D` (the same time on the next date). Everything due in between has happened when this returns."""
        return self.client.advance(by)

    def halt(self, symbol, reason="LUDP", **more):
        """Halts trading in a symbol, or with `*` in the whole market; `until` or `for` say how long (`halt("AAPL", **{"for": "PT5M"})`)."""
        return self.client.call("haltTrading", body={"symbol": symbol, "reason": reason, **more})

    def resume(self, symbol):
        """Lifts the halt of a symbol: trading goes on with the next quote."""
        return self.client.call("liftHalt", {"symbol": symbol})

    def script(self, outcome, match=None, **more):
        """Scripts the outcome of the next order that matches: `script({"reject": {"code": "INSUFFICIENT_FUNDS"}})`; `skip` and `times` say of which orders."""
        return self.client.call("createOutcome", body={"match": match or {}, "outcome": outcome, **more})

    def unscript(self, outcome_id=None):
        """Deletes a scripted outcome, or all; orders that it holds go to the market."""
        if outcome_id is None:
            return self.client.call("deleteOutcomes")
        return self.client.call("deleteOutcome", {"outcomeId": outcome_id})

    def close(self):
        self._owner.call("deleteSimulation", {"simulationId": self.simulation_id})
        self.client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


_shared = None
_shared_lock = threading.Lock()


def shared_server():
    """The server of all sandboxes of this process: the one that SANDPIT_URL names, else one of its own, which ends with the process.

    It is started with SANDPIT_COMMAND where that is set, else with the `sandpit` that npm installed here or that is on the PATH.
    """
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = connect() if "SANDPIT_URL" in os.environ else _start_server()
        return _shared


def _command():
    given = os.environ.get("SANDPIT_COMMAND")
    if given:
        return shlex.split(given)
    folder = os.getcwd()
    while True:
        found = shutil.which("sandpit", path=os.path.join(folder, "node_modules", ".bin"))
        if found:
            return [found]
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    found = shutil.which("sandpit")
    if found:
        return [found]
    raise SandpitError("No sandpit to start: npm install it here, or say how in SANDPIT_COMMAND, or where one runs in SANDPIT_URL")


def _start_server():
    server = subprocess.Popen([*_command(), "sandbox"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def stop():
        # It ends with its input, also where this process is killed.
        server.stdin.close()
        if _shared is not None:
            _shared.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(10)
        server.stdout.close()

    atexit.register(stop)
    late = threading.Timer(_STARTS_WITHIN, server.kill)
    late.start()
    try:
        for line in server.stdout:
            if line.startswith('{"url"'):
                access = json.loads(line)
                return Client(access["url"], api_key=access["apiKey"])
    finally:
        late.cancel()
    raise SandpitError(f"The server of the sandbox ended with {server.wait()}")


# -------------------------------------------------------------------------------------------------------------- learning loops

_NO_ACTION, _BUY, _SELL = range(3)


class Episodes:
    """Episodes of a trading game, each on a fork of one snapshot. `sandpit.gym` is the same as a Gymnasium environment.

        with sandpit.Episodes(client, ["AAPL"], cash=100_000, steps=390) as game:
            observation, info = game.reset(seed=7)
            observation, reward, terminated, truncated, info = game.step([1])

    *Action*: one number for each symbol: 0 nothing, 1 buys `lot` shares, 2 sells `lot` shares, at the market. What the broker refuses
    is in `info["refused"]`; the step goes on. *Observation*: bid, ask and shares held of each symbol, then settled cash and total
    equity, in dollars. *Reward*: the change of total equity in this step, in dollars. *Terminated*: total equity is gone. *Truncated*:
    after `steps` steps. A step lasts until the next bar of a minute in trading hours, or as `advance` says.

    The same seed gives the same episode: prices, draws and ids. Without a seed each episode has another one, from `random`.
    """

    def __init__(
        self,
        client=None,
        symbols=("AAPL",),
        cash=100_000,
        lot=10,
        steps=390,
        start=_START,
        seed=1,
        advance=None,
        portfolio_type="CASH",
        snapshot=None,
        portfolio_id=None,
        ephemeral=True,
    ):
        """Builds a simulation with synthetic prices, a portfolio with `cash` and a snapshot of them, unless `snapshot` names one,
        `(simulation id, snapshot id)`, and `portfolio_id` the portfolio in it. Everything is in the memory of the server alone unless
        `ephemeral` is false."""
        if (snapshot is None) != (portfolio_id is None):
            raise SandpitError("Give both snapshot and portfolio_id, or neither")
        self._owner = client or shared_server()
        self.symbols = list(symbols)
        self.lot = lot
        self.steps = steps
        self._advance = advance or {"until": "next-bar"}
        self._built = None
        self._kind = {"ephemeral": True} if ephemeral else {}
        if snapshot is None:
            snapshot, portfolio_id = self._build(start, seed, cash, portfolio_type)
        self._simulation_id, self._snapshot_id = snapshot
        self.portfolio_id = portfolio_id
        self._observe = {"symbols": self.symbols, "portfolios": [portfolio_id]}
        self._fork = None
        self._taken = 0
        self._equity = 0.0

    def _build(self, start, seed, cash, portfolio_type):
        body = {"feed": "synthetic", "clock": "manual", "start": start, "seed": seed, **self._kind}
        made = self._owner.call("createSimulation", body=body)
        self._built = made["simulationId"]
        with Client(self._owner.url, made["token"]) as client:
            portfolio = client.open_portfolio(cash, portfolio_type, account_id=_ACCOUNT)
        taken = self._owner.call("takeSnapshot", {"simulationId": self._built}, body={})
        return (self._built, taken["snapshotId"]), portfolio.id

    def reset(self, seed=None):
        """Begins an episode on a fork of its own; the one before is deleted. The first observation, and information."""
        self._delete_fork()
        body = {"from": {"snapshotId": self._snapshot_id}, "ttl": "PT1H", "seed": random.getrandbits(31) if seed is None else seed, **self._kind}
        made = self._owner.call("forkSimulation", {"simulationId": self._simulation_id}, body=body)
        self._fork = (made["simulationId"], Client(self._owner.url, made["token"]))
        self._taken = 0
        result = self._client.step(observe=self._observe)
        self._equity = result["portfolios"][0]["totalEquity"]
        return self._observation(result), {"now": result["now"], "seed": body["seed"]}

    def step(self, action):
        """Does what `action` says and lets time pass: observation, reward, terminated, truncated, information."""
        if len(action) != len(self.symbols):
            raise SandpitError(f"An action has a number for each of {', '.join(self.symbols)}")
        orders = [self._order(symbol, int(one)) for symbol, one in zip(self.symbols, action) if int(one) != _NO_ACTION]
        result = self._client.step(orders, advance=self._advance, observe=self._observe)
        self._taken += 1
        before, self._equity = self._equity, result["portfolios"][0]["totalEquity"]
        refused = [one["error"]["message"] for one in result["orders"] if "error" in one]
        info = {"now": result["now"], "refused": refused, "events": result["events"]}
        is_gone = self._equity <= 0
        is_over = self._taken >= self.steps
        return self._observation(result), self._equity - before, is_gone, is_over, info

    @property
    def _client(self):
        if self._fork is None:
            raise SandpitError("Call reset first")
        return self._fork[1]

    def _order(self, symbol, action):
        if action not in (_BUY, _SELL):
            raise SandpitError(f"{action} is no action: 0 does nothing, 1 buys, 2 sells")
        order = order_of("BUY_TO_OPEN" if action == _BUY else "SELL_TO_CLOSE", symbol, self.lot)
        return {**order, "portfolioId": self.portfolio_id}

    def _observation(self, result):
        quotes = {quote["symbol"]: quote for quote in result["quotes"]}
        portfolio = result["portfolios"][0]
        held = {one["symbol"]: one["settledQuantity"] + one["pendingQuantity"] for one in portfolio["equities"]}
        seen = []
        for symbol in self.symbols:
            quote = quotes.get(symbol, {})
            seen += [quote.get("bid", 0), quote.get("ask", 0), held.get(symbol, 0)]
        return [float(one) for one in (*seen, portfolio["settledCash"], portfolio["totalEquity"])]

    def _delete_fork(self):
        if self._fork is None:
            return
        simulation_id, client = self._fork
        self._fork = None
        client.close()
        self._owner.call("deleteSimulation", {"simulationId": simulation_id})

    def close(self):
        """Deletes the fork, and the simulation that was built for the episodes."""
        self._delete_fork()
        if self._built is not None:
            self._owner.call("deleteSimulation", {"simulationId": self._built})
            self._built = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def gym(*args, **options):
    """A Gymnasium environment of `Episodes`, with the same arguments. Needs Gymnasium.

    Observations are arrays of 64-bit floats; actions `MultiDiscrete([3] * len(symbols))`. `reset(seed=…)` repeats an episode; a later
    `reset()` draws the seed of the next one from the generator of the environment, so that a run repeats as a whole.
    """
    try:
        import gymnasium
        import numpy
    except ImportError:
        raise SandpitError("sandpit.gym needs Gymnasium: pip install gymnasium") from None

    class SandpitEnv(gymnasium.Env):
        metadata = {"render_modes": []}

        def __init__(self):
            self.episodes = Episodes(*args, **options)
            count = len(self.episodes.symbols)
            shape = (3 * count + 2,)
            self.observation_space = gymnasium.spaces.Box(-numpy.inf, numpy.inf, shape, numpy.float64)
            self.action_space = gymnasium.spaces.MultiDiscrete([3] * count)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            drawn = int(self.np_random.integers(2**31)) if seed is None else seed
            observation, info = self.episodes.reset(drawn)
            return numpy.array(observation, dtype=numpy.float64), info

        def step(self, action):
            observation, *others = self.episodes.step(action)
            return (numpy.array(observation, dtype=numpy.float64), *others)

        def close(self):
            self.episodes.close()

    return SandpitEnv()


if "pytest" in sys.modules:
    import pytest

    def pytest_configure(config):
        config.addinivalue_line("markers", "sandpit(start, seed, cash, feed, calendar, portfolio_type): what the sandbox of a test is like")

    @pytest.fixture
    def sandbox(request):
        """A `Sandbox` of the test's own; `@pytest.mark.sandpit(cash=10_000)` says what it is like."""
        marker = request.node.get_closest_marker("sandpit")
        with Sandbox(**(marker.kwargs if marker else {})) as sim:
            yield sim
