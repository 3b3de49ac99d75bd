import type { Requester } from '@sandpit/core';
import type { CreateSimulationBody, FixtureBody, InvitedPortfolio } from '@sandpit/protocol';
import type { Access } from '../../access/access.js';
import type { Competitions } from '../../competitions/competitions.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { Simulations } from '../../engine/directory/simulations.js';
import { MAIN } from '../../engine/values/cell-names.js';
import { InvitationRefused } from '../../invitations/errors.js';
import type {
  MemberFigures,
  MemberPlace,
  MemberPlan,
  MemberWork,
  OpenedMember,
} from '../../invitations/member-work.js';
import type { InvitationTerms } from '../../invitations/notes.js';
import { StoreUnavailable } from '../../store/journal.js';
import type { Analytics } from '../analytics/analytics.js';
import { Answer } from '../answer.js';
import { analyticsHandlers } from '../routes/analytics.js';
import { fillSimulation } from '../routes/fixtures.js';
import { BAD_TTL, isLifetime, unlessRefused } from '../routes/simulations.js';
import type { HttpSettings } from '../settings.js';
import { moneyOf } from '../translate/numbers.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { simulationConfigOf } from '../translate/simulations.js';

/** The portfolio of a member whose invitation names none. */
const DEFAULT_PORTFOLIO: InvitedPortfolio = {
  portfolioType: 'MARGIN',
  accountType: 'INDIVIDUAL',
  brokerId: 'default',
  marginType: 'REG_T',
};

/** The simulation that a fixture fills. */
const FIXTURE_MARKET: CreateSimulationBody = {
  feed: 'synthetic',
  clock: 'manual',
  calendar: 'XNYS',
  start: '2026-01-05T14:30:00Z',
};

/** The simulation in which a portfolio is tried out. */
const TRIAL: CreateSimulationBody = { feed: 'push', clock: 'manual', calendar: 'always-open' };
/** A trial that a crash leaves removes itself. */
const TRIAL_TTL = 'PT10M';

export interface LocalWorkDeps {
  readonly simulations: Simulations;
  readonly competitions: Competitions;
  readonly analytics: Analytics;
  readonly access: Access;
  readonly settings: HttpSettings;
  readonly clockMs: () => number;
  /** Erases everything of a tenant. */
  readonly eraseTenant: (tenantId: string) => Promise<void>;
  readonly seenAt: (memberId: string) => number | undefined;
}

/** Work in the simulations that this node serves. */
export class LocalMemberWork implements MemberWork {
  readonly #deps: LocalWorkDeps;

  constructor(deps: LocalWorkDeps) {
    this.#deps = deps;
  }

  /** Tries what a member would get, in a simulation of the inviter that is removed again. Returns the refusal, if any. */
  async refusalOf(tenantId: string, terms: InvitationTerms): Promise<Answer | undefined> {
    const { simulations } = this.#deps;
    const wanted = simulationIn(terms) ?? TRIAL;
    if (!isLifetime(wanted.ttl)) return BAD_TTL;
    const simulation = await this.#create(tenantId, { ...wanted, ttl: TRIAL_TTL });
    if (simulation instanceof Answer) return simulation;
    try {
      await this.#fill(simulation, { ...terms, accountId: TRIAL_ACCOUNT, displayName: terms.name });
      return undefined;
    } catch (error) {
      if (error instanceof InvitationRefused && error.problem.code === 'ANSWER')
        return new Answer(error.problem.status, error.problem.text);
      throw error;
    } finally {
      // A history store that still derives its rows must not meet a simulation that is gone.
      await simulation.past().catch(() => undefined);
      await simulations.directory.remove(simulation.id, tenantId);
    }
  }

  #create(tenantId: string, body: CreateSimulationBody): Promise<Simulation | Answer> {
    const { simulations, clockMs } = this.#deps;
    // The simulation of a member is not counted: the invitation grants it, whatever the tier.
    return unlessRefused(
      simulations.creation.create(tenantId, simulationConfigOf(body, clockMs()), Infinity),
      'ENTERPRISE',
      Infinity,
    );
  }

  async open(plan: MemberPlan): Promise<OpenedMember> {
    const { simulations } = this.#deps;
    const { tenantId } = plan;
    const wanted = simulationIn(plan);
    if (wanted === undefined) return this.#fill(await simulations.creation.keepMain(tenantId), plan);
    const [opened] = simulations.entries.list(tenantId).filter(({ id }) => id !== MAIN);
    const simulation =
      opened === undefined
        ? await this.#create(tenantId, wanted)
        : await simulations.directory.find(opened.id, tenantId);
    if (simulation === undefined) throw new Error(`The simulation of ${tenantId} is gone`);
    if (simulation instanceof Answer) throw refusedBy(simulation);
    return { ...(await this.#fill(simulation, plan)), simulationId: simulation.id };
  }

  async #fill(
    simulation: Simulation,
    { portfolio, fixture, tier, accountId, displayName }: Omit<MemberPlan, 'tenantId' | 'simulation'>,
  ): Promise<OpenedMember> {
    const by: Requester = { tier };
    const { portfolios, accounts } = simulation.brokerage.state;
    if (fixture !== undefined && portfolios.size === 0) {
      const filled = await fillSimulation(
        simulation,
        by,
        { name: fixture as FixtureBody['name'] },
        201,
        undefined,
      );
      if (filled.status !== 201) throw refusedBy(filled);
    }
    if (fixture !== undefined && portfolio === undefined) {
      const [first] = portfolios.values();
      if (first === undefined) throw new Error(`The fixture ${fixture} has no portfolio`);
      return { accountId: first.terms.accountId, portfolioId: first.terms.portfolioId };
    }
    const [before] = accounts.get(accountId)?.portfolioIds ?? [];
    if (before !== undefined) return { accountId, portfolioId: before };
    if (!accounts.has(accountId)) await this.#openAccount(simulation, by, accountId, displayName);
    return {
      accountId,
      portfolioId: await this.#openPortfolio(
        simulation,
        by,
        accountId,
        (portfolio as InvitedPortfolio | undefined) ?? DEFAULT_PORTFOLIO,
      ),
    };
  }

  async #openAccount(simulation: Simulation, by: Requester, accountId: string, name: string): Promise<void> {
    const { result } = await simulation.submit<'OpenAccount'>({
      type: 'OpenAccount',
      by,
      accountId,
      details: { name },
      proAccounts: Number.MAX_SAFE_INTEGER,
    });
    if (isRejection(result)) throw refusedBy(answerTo(result));
  }

  async #openPortfolio(
    simulation: Simulation,
    by: Requester,
    accountId: string,
    { initialCash, fillModel, accountId: _, ...body }: InvitedPortfolio,
  ): Promise<string> {
    const { settings } = this.#deps;
    const { result } = await simulation.submit<'OpenPortfolio'>({
      type: 'OpenPortfolio',
      by,
      accountId,
      ...body,
      fillModel: fillModel ?? 'quote',
      initialCash: initialCash === undefined ? settings.initialCash : moneyOf(initialCash),
      proAccounts: Number.MAX_SAFE_INTEGER,
    });
    if (isRejection(result)) throw refusedBy(answerTo(result, { brokerId: body.brokerId }));
    return result.terms.portfolioId;
  }

  async figures(place: MemberPlace): Promise<MemberFigures> {
    const { simulations, competitions, seenAt: seenAtOf } = this.#deps;
    const { id, tenantId, portfolioId = '', simulationId = MAIN, entry, inviter } = place;
    const seenAt = seenAtOf(id);
    const seen = seenAt !== undefined && { seenAt };
    const simulation = await simulations.directory.find(
      simulationId,
      entry === undefined ? tenantId : inviter,
    );
    // It was deleted, by the member or by its own `ttl`.
    if (simulation === undefined) return { ...seen };
    const orders = await unlessUnavailable(async () => {
      const history = await simulation.past();
      const { total } = await history.orders({
        simulationId: simulation.id,
        scope: { portfolioId },
        offset: 0,
        limit: 1,
      });
      return { orders: total };
    });
    const worth = await unlessUnavailable(() =>
      entry === undefined
        ? this.#performance(simulation, portfolioId)
        : competitions.results.figuresOf(entry.competitionId, entry.entryId),
    );
    return { ...worth, ...orders, ...seen };
  }

  /** Equity and return as the performance of the portfolio has them: one figure on both pages. */
  async #performance(
    simulation: Simulation,
    portfolioId: string,
  ): Promise<Pick<MemberFigures, 'equity' | 'return'>> {
    const call = { simulation, principal: {}, params: { portfolioId }, query: {} };
    const answer = await analyticsHandlers(this.#deps.analytics).getPerformance(call as never);
    if (answer instanceof Answer) return {};
    const { endEquity, timeWeightedReturn } = answer;
    return {
      equity: endEquity,
      ...(timeWeightedReturn !== undefined && { return: timeWeightedReturn }),
    };
  }

  async reset({ tenantId, tier, portfolioId = '', simulationId = MAIN }: MemberPlace): Promise<void> {
    const simulation = await this.#deps.simulations.directory.find(simulationId, tenantId);
    if (simulation === undefined)
      throw new InvitationRefused({ code: 'MEMBER_NOT_FOUND' }, 'The simulation of the member is gone');
    const { result } = await simulation.submit<'ResetPortfolio'>({
      type: 'ResetPortfolio',
      by: { tier },
      portfolioId,
    });
    if (isRejection(result)) throw refusedBy(answerTo(result));
  }

  async erase(tenantId: string): Promise<void> {
    this.#deps.access.forgetTenant(tenantId);
    await this.#deps.eraseTenant(tenantId);
  }
}

/** The simulation that an invitation grants; undefined = `main`. Bodies were validated when the invitation was created. */
const simulationIn = ({
  simulation,
  fixture,
}: Pick<InvitationTerms, 'simulation' | 'fixture'>): CreateSimulationBody | undefined =>
  (simulation as CreateSimulationBody | undefined) ?? (fixture === undefined ? undefined : FIXTURE_MARKET);

/** Figures of one member that cannot be read now; the roster shows the others. */
async function unlessUnavailable<T extends object>(read: () => Promise<T>): Promise<Partial<T>> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StoreUnavailable) return {};
    throw error;
  }
}

const TRIAL_ACCOUNT = '00000000-0000-4000-8000-000000000000';

const refusedBy = ({ status, text }: Answer): InvitationRefused =>
  new InvitationRefused({ code: 'ANSWER', status, text }, text);
