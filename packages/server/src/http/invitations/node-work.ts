/** Work of invitations at the nodes that serve the tenants concerned: those of inviters and of their members. */
import { setTimeout as later } from 'node:timers/promises';
import type { Cluster } from '../../cluster/cluster.js';
import { InvitationRefused, type InvitationProblem } from '../../invitations/errors.js';
import type { Elsewhere, Joined, JoinRequest } from '../../invitations/invitations.js';
import type {
  MemberFigures,
  MemberPlace,
  MemberPlan,
  MemberWork,
  OpenedMember,
} from '../../invitations/member-work.js';
import { StoreUnavailable } from '../../store/journal.js';
import type { ClusterNode } from '../../store/ownership.js';
import { CompetitionRefused } from '../../competitions/errors.js';
import { answerToCompetition } from '../routes/competitions.js';

export const INVITATIONS_PATH = '/cluster/invitations';

/** Time for which work is offered to the owner of a tenant. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 40;
/** Time for one answer: opening and erasing simulations is slow. */
const ANSWER_MS = 15_000;

type Task =
  | { readonly op: 'open'; readonly plan: MemberPlan }
  | { readonly op: 'figures'; readonly place: MemberPlace }
  | { readonly op: 'reset'; readonly place: MemberPlace }
  | { readonly op: 'erase' }
  | { readonly op: 'join'; readonly request: JoinRequest };

type NodeRequest = Task & { readonly tenantId: string };

type NodeAnswer =
  | { readonly done: unknown }
  | { readonly refused: InvitationProblem; readonly message: string }
  /** This node does not serve the tenant. */
  | { readonly moved: true };

/** Work that this node does itself. */
interface Here {
  readonly work: MemberWork;
  readonly joinHere: (request: JoinRequest) => Promise<Joined>;
}

/** Sends work to the owners of tenants, and does what other nodes send. */
export class NodeWork implements Elsewhere {
  readonly #cluster: Cluster;
  readonly #here: Here;

  constructor(cluster: Cluster, here: Here) {
    this.#cluster = cluster;
    this.#here = here;
  }

  readonly isServed = (tenantId: string): boolean => !this.#cluster.placement.servesNow(tenantId);

  readonly join = async (inviter: string, request: JoinRequest): Promise<Joined> =>
    (await this.#send({ op: 'join', request, tenantId: inviter })) as Joined;

  readonly work: MemberWork = {
    open: async (plan) => (await this.#send({ op: 'open', plan, tenantId: plan.tenantId })) as OpenedMember,
    figures: async (place) =>
      (await this.#send({
        op: 'figures',
        place,
        tenantId: place.entry === undefined ? place.tenantId : place.inviter,
      })) as MemberFigures,
    reset: async (place) => {
      await this.#send({ op: 'reset', place, tenantId: place.tenantId });
    },
    erase: async (tenantId) => {
      await this.#send({ op: 'erase', tenantId });
    },
  };

  async #send(request: NodeRequest): Promise<unknown> {
    const { placement } = this.#cluster;
    const { tenantId } = request;
    const giveUpAt = performance.now() + PATIENCE_MS;
    // A join without a key may have been done when its answer is lost: its caller decides.
    const isRepeatable = request.op !== 'join' || request.request.request !== undefined;
    while (performance.now() < giveUpAt) {
      const node = await placement.ownerOf(tenantId).catch(() => undefined);
      const answer = node && (await this.#askNode(node, request, isRepeatable));
      if (answer !== undefined && 'done' in answer) return answer.done;
      if (answer !== undefined && 'refused' in answer) {
        const isOwnAttempt = answer.refused.code === 'UNDER_WAY';
        if (!isOwnAttempt) throw new InvitationRefused(answer.refused, answer.message);
      }
      placement.forget(tenantId);
      await later(RETRY_MS);
    }
    throw new StoreUnavailable('no node serves the tenant');
  }

  /** The answer of the node that serves a tenant, or should; undefined = it did not answer. */
  async #askNode(
    node: ClusterNode,
    request: NodeRequest,
    isRepeatable: boolean,
  ): Promise<NodeAnswer | undefined> {
    if (this.#cluster.isSelf(node)) return this.#answer(request);
    try {
      return (await this.#cluster.ask(node, INVITATIONS_PATH, request, ANSWER_MS)) as NodeAnswer;
    } catch (error) {
      if (isRepeatable) return undefined;
      throw new StoreUnavailable('the node does not answer', { cause: error });
    }
  }

  /** Does what another node has sent. */
  readonly answerNode = (body: Buffer): Promise<NodeAnswer> =>
    this.#answer(JSON.parse(body.toString()) as NodeRequest);

  async #answer(request: NodeRequest): Promise<NodeAnswer> {
    const { placement } = this.#cluster;
    const { tenantId } = request;
    if (!(await placement.serves(tenantId))) return { moved: true };
    const leave = placement.enter(tenantId);
    try {
      const done = await this.#do(request);
      // Ownership may have ended in the meantime: what was read is outdated.
      return placement.owns(tenantId) ? { done: done ?? null } : { moved: true };
    } catch (error) {
      const refused = error instanceof CompetitionRefused ? refusedAs(error) : error;
      if (!(refused instanceof InvitationRefused)) throw error;
      return { refused: refused.problem, message: refused.message };
    } finally {
      leave();
    }
  }

  #do(request: NodeRequest): Promise<unknown> {
    const { work, joinHere } = this.#here;
    switch (request.op) {
      case 'open':
        return work.open(request.plan);
      case 'figures':
        return work.figures(request.place);
      case 'reset':
        return work.reset(request.place);
      case 'erase':
        return work.erase(request.tenantId);
      case 'join':
        return joinHere(request.request);
    }
  }
}

function refusedAs(error: CompetitionRefused): InvitationRefused {
  const { status, text } = answerToCompetition(error);
  return new InvitationRefused({ code: 'ANSWER', status, text }, error.message);
}
