"""The client against a real server, which `SANDPIT_COMMAND` starts. `python3 -m unittest`, in this folder."""

import array
import contextlib
import importlib.util
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import uuid

import sandpit
from sandpit import Client, Sandbox, connect


class Webhooks(unittest.TestCase):
    SECRET = "whsec_" + "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    BODY = b'{"type":"order.filled","timestamp":"2026-01-05T15:00:00.000Z","data":{"id":"12-3","simulationId":"main"}}'
    # Of the library standardwebhooks 1.1.1, in JavaScript.
    HEADERS = {
        "Webhook-Id": "evt_main_12-3",
        "Webhook-Timestamp": "1767625200",
        "Webhook-Signature": "v1,ZwNKlt9DnCVAt4V062tjLuRrgmrED1yQuCtvo4RyrT0=",
    }

    def verify(self, **changes):
        given = {"secret": self.SECRET, "headers": self.HEADERS, "body": self.BODY, **changes}
        with unittest.mock.patch("time.time", lambda: 1767625200 + 299):
            return sandpit.verify_webhook(**given)

    def test_a_delivery_of_the_reference_library(self):
        self.assertEqual(self.verify()["data"]["id"], "12-3")
        self.assertEqual(self.verify(body=self.BODY.decode())["type"], "order.filled")

    def test_what_is_forged_or_old(self):
        for changes in (
            {"body": self.BODY + b" "},
            {"secret": "whsec_AAAA"},
            {"headers": {}},
            {"headers": {**self.HEADERS, "Webhook-Timestamp": "1767625201"}},
            {"headers": {**self.HEADERS, "Webhook-Timestamp": "soon"}},
            {"tolerance": 298},
        ):
            with self.assertRaises(sandpit.WebhookVerificationError):
                self.verify(**changes)


class InASandbox(unittest.TestCase):
    def test_a_market_that_does_what_it_is_told(self):
        with Sandbox(cash=10_000, seed=7) as sim:
            sim.quote("AAPL", 187.59, 187.60)
            order = sim.portfolio.buy("AAPL", 10, limit=187.50)
            self.assertEqual(order.refresh().data["waitingFor"], "ask 187.60 above limit 187.50")
            moves = threading.Timer(0, lambda: sim.quote("AAPL", 187.48, 187.50))
            moves.start()
            self.assertEqual(order.filled(timeout=20)["averagePrice"], 187.50)
            moves.join()
            sim.advance("P1D")
            self.assertEqual(sim.portfolio.positions()[0]["settledQuantity"], 10)
            self.assertEqual(sim.portfolio.show()["settledCash"], 10_000 - 1875)
            self.assertEqual(order.executions()[0]["price"], 187.50)

    def test_analytics(self):
        with Sandbox(cash=10_000) as sim, tempfile.TemporaryDirectory() as folder:
            sim.quote("AAPL", 99, 101)
            order = sim.portfolio.buy("AAPL", 10)
            order.filled(timeout=20)
            sim.quote("AAPL", 110, 111)
            sim.portfolio.sell("AAPL", 10).filled(timeout=20)
            self.assertEqual(sim.portfolio.performance()["trades"]["count"], 1)
            self.assertEqual([one["grossPnl"] for one in sim.portfolio.trades()], [90])
            self.assertEqual(sim.portfolio.execution_quality(groupBy="symbol")["groups"][0]["key"], "AAPL")
            self.assertEqual(len(list(sim.portfolio.realized_gains())), 1)
            self.assertEqual(list(sim.portfolio.tax_lots()), [])
            file = os.path.join(folder, "report.html")
            sim.portfolio.report(file)
            with open(file, encoding="utf-8") as page:
                self.assertIn("AAPL", page.read())
            sim.client.csv("listTrades", file, {"portfolioId": sim.portfolio.id})
            with open(file, encoding="utf-8", newline="") as rows:
                self.assertEqual(rows.read().count("\r\n"), 2)
            with self.assertRaises(sandpit.NotFoundError):
                sim.client.csv("listTrades", file, {"portfolioId": str(uuid.uuid4())})
            self.assertEqual(len(self.frame_of(sim.portfolio.trades())), 1)

    def frame_of(self, rows):
        """With pandas its frame, without it a class that stands for it: the module imports it when it is asked for."""
        try:
            return sandpit.to_dataframe(rows)
        except sandpit.SandpitError as error:
            self.assertIn("pip install pandas", str(error))
            return list(rows)

    def test_the_same_again_with_the_same_seed(self):
        ids = []
        for _ in range(2):
            with Sandbox(seed="same") as sim:
                sim.quote("AAPL", 10, 10.01)
                ids.append(sim.portfolio.buy("AAPL", 1).id)
        self.assertEqual(ids[0], ids[1])

    def test_brackets_shorts_cancels_updates(self):
        with Sandbox(portfolio_type="MARGIN", cash=50_000) as sim:
            sim.quote("MSFT", 99.99, 100)
            sim.portfolio.buy("MSFT", 10, take_profit=110, stop_loss=90).filled(timeout=20)
            sim.quote("MSFT", 110, 110.01)
            self.assertEqual(sorted(one["status"] for one in sim.client.orders()), ["CANCELED", "FILLED", "FILLED"])
            sim.portfolio.short("MSFT", 5).filled(timeout=20)
            cover = sim.portfolio.cover("MSFT", 5, limit=100)
            self.assertEqual(cover.update(limitPrice=101).data["limitPrice"], 101)
            self.assertEqual(cover.cancel()["status"], "CANCELED")
            self.assertEqual(cover.cancel()["status"], "CANCELED")
            with self.assertRaises(sandpit.NotFilledError):
                cover.filled()

    def test_pairs_and_amounts_of_money(self):
        with Sandbox(cash=10_000) as sim:
            sim.quote("AAPL", 99.99, 100)
            bought = sim.portfolio.buy("AAPL", notional=250).filled(timeout=20)
            self.assertEqual(bought["filledQuantity"], 2.5)
            limit = sim.portfolio.sell("AAPL", 2.5, take_profit=110, stop_loss=90)
            self.assertEqual(limit.data["ocoConfig"]["stopLoss"], {"orderType": "STOP", "stopPrice": 90})
            sim.quote("AAPL", 110, 110.01)
            self.assertEqual(limit.filled(timeout=20)["averagePrice"], 110)
            self.assertEqual(sorted(one["status"] for one in sim.client.orders()), ["CANCELED", "FILLED", "FILLED"])

    def test_spreads_futures_and_previews(self):
        with Sandbox(portfolio_type="MARGIN", cash=50_000) as sim:
            low, high = "AAPL260116C00150000", "AAPL260116C00160000"
            for symbol, bid, ask in (("AAPL", 149.99, 150.01), (low, 5, 5.1), (high, 2, 2.1)):
                sim.quote(symbol, bid, ask)
            spread = sandpit.spread_of("VERTICAL_SPREAD", [(low, 2), (high, -2)], limit=3.1)
            self.assertEqual(sim.portfolio.preview(spread)["rejections"], [])
            filled = sim.portfolio.submit(spread).filled(timeout=20)
            self.assertEqual((filled["averagePrice"], filled["filledQuantity"]), (3.1, 2))
            self.assertEqual(sorted(one["quantity"] for one in sim.portfolio.options()), [-2, 2])
            sim.quote("ESH26", 5000, 5000.25)
            sim.portfolio.buy("ESH26", 1).filled(timeout=20)
            self.assertEqual(sim.portfolio.futures()[0]["quantity"], 1)

    def test_what_goes_wrong_is_told_by_its_class_with_the_figures(self):
        with Sandbox(cash=100) as sim:
            sim.quote("AAPL", 187.59, 187.60)
            with self.assertRaises(sandpit.InsufficientFundsError) as refused:
                sim.portfolio.buy("AAPL", 10, limit=200)
            self.assertEqual(refused.exception.figures["availableCash"], 100)
            self.assertTrue(refused.exception.request_id)
            with self.assertRaises(sandpit.ValidationError):
                sim.portfolio.buy("AAPL", -1)
            with self.assertRaises(sandpit.NotFoundError):
                sim.client.order("11111111-1111-4111-8111-111111111111")
            with self.assertRaises(sandpit.UnauthorizedError), Client(sim.client.url, token="a.b.c") as stranger:
                stranger.quote("AAPL")
            with self.assertRaisesRegex(sandpit.UnreachableError, "No Sandpit answers at http://127.0.0.1:9"):
                connect("http://127.0.0.1:9", token="x", retry_for=0).quote("AAPL")

    def test_streams(self):
        with Sandbox() as sim:
            sim.quote("AAPL", 9.99, 10)
            with contextlib.closing(sim.client.quote_events(["AAPL"])) as quotes:
                self.assertEqual(next(quotes)["ask"], 10)
            with contextlib.closing(sim.client.portfolio_events(sim.portfolio.id)) as portfolios:
                self.assertEqual(next(portfolios)["portfolioId"], sim.portfolio.id)
            # The first id is that of nothing: from the beginning on.
            sim.portfolio.buy("AAPL", 1).settled(timeout=20)
            with contextlib.closing(sim.client.order_events(last_event_id="0-0")) as events:
                seen = [next(events) for _ in range(4)]
            self.assertEqual([one["event"] for one in seen], ["PENDING", "RESERVING", "ACTIVE", "FILLED"])
            with contextlib.closing(sim.client.order_events(last_event_id=seen[1]["eventId"])) as rest:
                self.assertEqual(next(rest)["event"], "ACTIVE")

    def test_one_key_places_one_order(self):
        with Sandbox() as sim:
            sim.quote("AAPL", 9.99, 10)
            ids = {sim.portfolio.buy("AAPL", 1, idempotency_key="only-once").id for _ in range(3)}
            self.assertEqual(len(ids), 1)
            self.assertEqual(sum(1 for _ in sim.client.list("listOrders", query={"limit": 1})), 1)


class LearningLoops(unittest.TestCase):
    def test_the_same_seed_gives_the_same_episode(self):
        actions = [[1, 0], [0, 1], [2, 0], [0, 0], [1, 2], [2, 2]]
        with sandpit.Episodes(symbols=["AAPL", "MSFT"], steps=len(actions)) as game:
            told = []
            for seed in (7, 7, 8):
                first, info = game.reset(seed=seed)
                self.assertEqual((len(first), first[-2:], info["seed"]), (8, [100_000, 100_000], seed))
                told.append([(observation, reward, over, refused(info)) for observation, reward, _, over, info in map(game.step, actions)])
            self.assertEqual(told[0], told[1])
            self.assertNotEqual(told[0], told[2])
            self.assertEqual([over for _, _, over, _ in told[0]], [False] * 5 + [True])
            rewards = sum(reward for _, reward, _, _ in told[0])
            self.assertAlmostEqual(100_000 + rewards, told[0][-1][0][-1], places=6)

    def test_a_refused_order_is_told_and_the_episode_goes_on(self):
        with sandpit.Episodes(cash=100, lot=10) as game:
            game.reset(seed=1)
            _, reward, terminated, _, info = game.step([1])
            self.assertEqual((info["refused"], reward, terminated), (["Insufficient funds"], 0, False))
            self.assertEqual(info["now"], "2026-01-05T15:01:00.000Z")
            with self.assertRaisesRegex(sandpit.SandpitError, "3 is no action"):
                game.step([3])
            with self.assertRaisesRegex(sandpit.SandpitError, "a number for each of AAPL"):
                game.step([1, 1])

    def test_episodes_of_a_snapshot_of_ones_own_leave_its_simulation_alone(self):
        with Sandbox(cash=10_000) as sim:
            sim.quote("AAPL", 99, 100)
            taken = sandpit.shared_server().call("takeSnapshot", {"simulationId": sim.simulation_id}, body={})
            snapshot = (sim.simulation_id, taken["snapshotId"])
            with sandpit.Episodes(snapshot=snapshot, portfolio_id=sim.portfolio.id, advance={"by": "PT1M"}) as game:
                game.reset()
                # Without a trade the mark is the middle.
                self.assertEqual(game.step([1])[0], [99, 100, 10, 9_000, 9_995])
                self.assertEqual(game.reset()[0], [99, 100, 0, 10_000, 10_000])
            self.assertEqual(sim.portfolio.show()["settledCash"], 10_000)

    def test_a_gymnasium_environment(self):
        with unittest.mock.patch.dict(sys.modules, gymnasium_or_stand_ins()):
            env = sandpit.gym(symbols=["AAPL"], steps=2)
            with contextlib.closing(env):
                first, _ = env.reset(seed=3)
                env.step([1])
                _, reward, terminated, truncated, info = env.step([0])
                self.assertEqual((terminated, truncated, info["refused"]), (False, True, []))
                again, _ = env.reset(seed=3)
                env.step([1])
                self.assertEqual((list(again), env.step([0])[1]), (list(first), reward))
                # Without a seed the generator of the environment draws one.
                seeds = [[env.reset(seed=3)[1]["seed"], env.reset()[1]["seed"]] for _ in range(2)]
                self.assertEqual(seeds[0], seeds[1])
                self.assertEqual(env.action_space.nvec.tolist(), [3])
                self.assertEqual(env.observation_space.shape, (5,))

    def test_says_that_gymnasium_is_missing(self):
        with unittest.mock.patch.dict(sys.modules, gymnasium=None), self.assertRaisesRegex(sandpit.SandpitError, "pip install gymnasium"):
            sandpit.gym()


def refused(info):
    return tuple(info["refused"])


def gymnasium_or_stand_ins():
    """Gymnasium where it is installed; else as much of it, and of NumPy, as the environment uses."""
    if importlib.util.find_spec("gymnasium") and importlib.util.find_spec("numpy"):
        return {}

    class Env:
        np_random = None

        def reset(self, *, seed=None):
            if seed is not None or self.np_random is None:
                draws = random.Random(seed)
                self.np_random = types.SimpleNamespace(integers=draws.randrange)

    spaces = types.SimpleNamespace(
        Box=lambda low, high, shape, dtype: types.SimpleNamespace(shape=shape, dtype=dtype),
        MultiDiscrete=lambda nvec: types.SimpleNamespace(nvec=array.array("l", nvec)),
    )
    numpy = types.SimpleNamespace(inf=float("inf"), float64="d", array=lambda values, dtype: array.array(dtype, values))
    return {"gymnasium": types.SimpleNamespace(Env=Env, spaces=spaces), "numpy": numpy}


class AKilledServer(unittest.TestCase):
    """Kill it in the middle of orders, start it again: nothing is lost, nothing is there twice."""

    ORDERS = 30

    def test_loses_and_doubles_nothing(self):
        with tempfile.TemporaryDirectory() as data, socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            probe.close()
            server = self.start(data, port)
            try:
                with connect_to(data) as client:
                    portfolio = client.open_portfolio(cash=1_000_000)
                    client.call("pushQuotes", body={"quotes": [{"symbol": "AAPL", "bid": 9.99, "ask": 10}]})
                    seen = []
                    reading = threading.Thread(target=self.read, args=(client, seen), daemon=True)
                    reading.start()
                    placing = threading.Thread(target=self.place, args=(portfolio,))
                    placing.start()
                    wait_until(lambda: len(seen) > self.ORDERS // 3)
                    self.kill(server)
                    server = self.start(data, port)
                    placing.join()
                    reading.join(30)
                    placed = [one["clientOrderId"] for one in client.orders()]
                    self.assertEqual(sorted(placed), sorted(f"order-{i}" for i in range(self.ORDERS)))
                    self.assertEqual(seen, [f"order-{i}" for i in range(self.ORDERS)])
            finally:
                self.kill(server)

    @staticmethod
    def start(data, port):
        settings = {"DATA_DIR": data, "PORT": str(port), "MARKET_FEED": "push", "MARKET_CALENDAR": "always-open"}
        server = subprocess.Popen(
            [*sandpit._command(), "up"],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for line in server.stdout:
            if b"listening on" in line:
                break
        return server

    @staticmethod
    def kill(server):
        # The command and the server that it started.
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        server.stdout.close()

    def place(self, portfolio):
        for i in range(self.ORDERS):
            portfolio.buy("AAPL", 1, limit=5, clientOrderId=f"order-{i}")

    def read(self, client, seen):
        with contextlib.closing(client.order_events(last_event_id="0-0")) as events:
            while len(seen) < self.ORDERS:
                told = next(events)
                if told["event"] == "PENDING":
                    seen.append(told["clientOrderId"])


def wait_until(is_so):
    for _ in range(2000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come to that")


def connect_to(data):
    with open(os.path.join(data, "demo-credentials.json"), encoding="utf-8") as file:
        demo = json.load(file)
    return Client(demo["baseUrl"], api_key=demo["apiKey"])


class TheFixture(unittest.TestCase):
    def test_gives_a_test_what_its_marker_says(self):
        # Where pytest is not installed, as much of it as the fixture needs.
        pytest = types.SimpleNamespace(fixture=lambda function: function)
        with unittest.mock.patch.dict(sys.modules, pytest=sys.modules.get("pytest", pytest)):
            plugin = importlib.util.module_from_spec(importlib.util.find_spec("sandpit"))
            plugin.__spec__.loader.exec_module(plugin)
        plugin._shared = sandpit.shared_server()
        marker = types.SimpleNamespace(kwargs={"cash": 500})
        request = types.SimpleNamespace(node=types.SimpleNamespace(get_closest_marker=lambda name: marker))
        fixture = getattr(plugin.sandbox, "__wrapped__", plugin.sandbox)(request)
        self.assertEqual(next(fixture).portfolio.show()["settledCash"], 500)
        self.assertEqual(list(fixture), [])


class OnItsOwn(unittest.TestCase):
    def test_has_a_class_for_each_code(self):
        self.assertEqual(len(set(sandpit.ERROR_CLASSES.values())), len(sandpit.ERROR_CLASSES))

    def test_says_what_is_wrong_with_a_url(self):
        with self.assertRaisesRegex(sandpit.SandpitError, "http://HOST:PORT"):
            Client("localhost:3000")


if __name__ == "__main__":
    unittest.main()
