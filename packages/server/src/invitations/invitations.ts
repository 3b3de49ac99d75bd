import { createHash, randomInt, randomUUID } from 'node:crypto';
import type { Access } from '../access/access.js';
import { drawApiKey, hashOfApiKey, idOfApiKey } from '../access/api-key.js';
import type { Competitions } from '../competitions/competitions.js';
import { StoreUnavailable } from '../store/journal.js';
import { AlreadyExists } from '../store/registry.js';
import type { Store } from '../store/store.js';
import { InvitationRefused } from './errors.js';
import type { MemberFigures, MemberPlace, MemberWork } from './member-work.js';
import {
  eraseInvitationNotes,
  INVITATION_SETTINGS,
  invitationName,
  MEMBER_SETTINGS,
  memberName,
  seenName,
} from './notes.js';
import type { InvitationNote, InvitationTerms, JoinKey, MemberNote } from './notes.js';
import { drawTenantId } from './tenant-name.js';

/** Invitations that a tenant may have. */
const MOST_INVITATIONS = 100;
const JOINS_A_SECOND = 10;
const KEY_TTL_MS = 86_400_000;
/** Interval at which the last requests of members are stored. */
const SEEN_EVERY_MS = 60_000;
/** Tokens to view a member that may be valid at once; beyond it the oldest ends. */
const MOST_VIEWS = 20;
/** Random tenant ids that are tried. */
const MOST_DRAWS = 8;

/** 32 letters and digits, none mistaken for another: 26 of them have 130 bits. */
const CODE_LETTERS = '23456789abcdefghjkmnpqrstuvwxyzi';
const CODE_LENGTH = 26;
const newCode = (): string =>
  Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');

export interface InvitationDeps {
  readonly store: Store;
  readonly access: Access;
  readonly competitions: Competitions;
  readonly work: MemberWork;
  /** Work at the node that serves a tenant; absent without a cluster. */
  readonly elsewhere?: Elsewhere;
  readonly clockMs: () => number;
  readonly monotonicMs: () => number;
  /** Most members of a tenant. */
  readonly maxMembers: number;
}

/** Operations at the nodes that serve a tenant. */
export interface Elsewhere {
  readonly work: MemberWork;
  readonly join: (inviter: string, request: JoinRequest) => Promise<Joined>;
  /** True when another node serves the tenant. */
  readonly isServed: (tenantId: string) => boolean;
}

export interface JoinRequest {
  readonly invitationId: string;
  readonly displayName: string;
  readonly request?: JoinKey;
}

/** A member, and the code of the link to return with. */
export interface Joined {
  readonly member: MemberNote;
  readonly returnCode: string;
  readonly isReplayed: boolean;
}

export type InvitationStatus = 'OPEN' | 'FULL' | 'EXPIRED' | 'DELETED';

/** The invitations of a server and their members (D258). The registry has both; the simulations belong to the members' own tenants. */
export class Invitations {
  readonly #deps: InvitationDeps;
  readonly #invitations = new Map<string, InvitationNote>();
  readonly #byCode = new Map<string, string>();
  readonly #members = new Map<string, MemberNote>();
  /** Members of an invitation, in the order in which they joined. */
  readonly #membersOf = new Map<string, Set<string>>();
  readonly #byTenant = new Map<string, string>();
  readonly #byKey = new Map<string, string>();
  /** Joins under way, by invitation. */
  readonly #joining = new Map<string, Set<string>>();
  /** Digests of keys of joins under way. */
  readonly #keysUnderWay = new Set<string>();
  /** Recent joins of an invitation, on the monotonic clock. */
  readonly #recent = new Map<string, number[]>();
  /** Last requests that are not stored yet, by member. */
  readonly #seen = new Map<string, number>();
  readonly #unstored = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #clearing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: InvitationDeps) {
    this.#deps = deps;
    for (const [name] of this.#registry.settings(INVITATION_SETTINGS)) this.#read(name);
    const members = this.#registry
      .settings(MEMBER_SETTINGS)
      .map(([, text]) => JSON.parse(text) as MemberNote);
    for (const member of members.sort((a, b) => a.joinedAt - b.joinedAt)) this.#enter(member);
    if (deps.store.ownership === undefined) this.#clear((member) => member.portfolioId === undefined);
    this.#timer = setInterval(() => void this.#storeSeen().catch(() => undefined), SEEN_EVERY_MS).unref();
  }

  get #registry() {
    return this.#deps.store.registry;
  }

  /** A node of a cluster has acquired an inviter: joins that its former node has not finished are removed. */
  enterTenant(tenantId: string): void {
    this.#clear((member) => member.inviter === tenantId && member.portfolioId === undefined);
  }

  #clear(isLeft: (member: MemberNote) => boolean): void {
    const left = [...this.#members.values()].filter(isLeft);
    this.#clearing = this.#clearing.then(async () => {
      for (const member of left) {
        if (this.#isClosed || this.#joining.get(member.invitationId)?.has(member.id) === true) continue;
        // The next start retries a failure.
        await this.#remove(member).catch(() => undefined);
      }
    });
  }

  /** Applies a note that another node has written. Returns true if the setting is such a note. */
  followSetting(name: string): boolean {
    if (!name.startsWith(INVITATION_SETTINGS) && !name.startsWith(MEMBER_SETTINGS)) return false;
    this.#read(name);
    return true;
  }

  /** Takes a note as the registry has it. */
  #read(name: string): void {
    const text = this.#registry.setting(name);
    if (name.startsWith(INVITATION_SETTINGS)) {
      const id = name.slice(INVITATION_SETTINGS.length);
      const before = this.#invitations.get(id);
      if (before !== undefined) this.#byCode.delete(before.code);
      this.#invitations.delete(id);
      if (text === undefined) return;
      const note = JSON.parse(text) as InvitationNote;
      this.#invitations.set(id, note);
      if (note.isDeleted !== true) this.#byCode.set(note.code, id);
    } else if (text === undefined) this.#leave(name.slice(MEMBER_SETTINGS.length));
    else this.#enter(JSON.parse(text) as MemberNote);
  }

  #enter(member: MemberNote): void {
    this.#forgetKeys(member.id);
    this.#members.set(member.id, member);
    this.#byTenant.set(member.tenantId, member.id);
    this.#byKey.set(member.keyId, member.id);
    this.#byKey.set(member.linkKeyId, member.id);
    const others = this.#membersOf.get(member.invitationId) ?? new Set();
    this.#membersOf.set(member.invitationId, others.add(member.id));
  }

  #leave(memberId: string): void {
    const member = this.#members.get(memberId);
    if (member === undefined) return;
    this.#forgetKeys(memberId);
    this.#members.delete(memberId);
    this.#byTenant.delete(member.tenantId);
    this.#seen.delete(memberId);
    this.#unstored.delete(memberId);
    const others = this.#membersOf.get(member.invitationId);
    others?.delete(memberId);
    if (others?.size === 0) this.#membersOf.delete(member.invitationId);
  }

  #forgetKeys(memberId: string): void {
    const before = this.#members.get(memberId);
    if (before === undefined) return;
    this.#byKey.delete(before.keyId);
    this.#byKey.delete(before.linkKeyId);
  }

  async #saveInvitation(note: InvitationNote): Promise<void> {
    await this.#registry.saveSetting(invitationName(note.id), JSON.stringify(note));
    this.#read(invitationName(note.id));
  }

  async #saveMember(member: MemberNote): Promise<void> {
    await this.#registry.saveSetting(memberName(member.id), JSON.stringify(member));
    this.#enter(member);
  }

  /** Newest first. */
  list(inviter: string): readonly InvitationNote[] {
    return [...this.#invitations.values()]
      .filter((note) => note.inviter === inviter)
      .filter((note) => note.isDeleted !== true || this.count(note) > 0)
      .reverse()
      .sort((a, b) => b.createdAt - a.createdAt);
  }

  /** An invitation of the tenant, also one that is deleted. */
  own(id: string, inviter: string): InvitationNote {
    const note = this.#invitations.get(id);
    if (note?.inviter !== inviter) throw notFound();
    return note;
  }

  /** Members of an invitation, oldest first. */
  membersOf({ id }: InvitationNote): readonly MemberNote[] {
    return [...(this.#membersOf.get(id) ?? [])]
      .flatMap((memberId) => this.#members.get(memberId) ?? [])
      .filter(({ portfolioId }) => portfolioId !== undefined);
  }

  count(note: InvitationNote): number {
    return this.membersOf(note).length;
  }

  member(note: InvitationNote, memberId: string): MemberNote {
    const member = this.#members.get(memberId);
    if (member?.invitationId !== note.id || member.portfolioId === undefined)
      throw new InvitationRefused({ code: 'MEMBER_NOT_FOUND' }, 'Member not found');
    return member;
  }

  /** A member of any invitation of the tenant. */
  memberOf(inviter: string, memberId: string): MemberNote | undefined {
    const member = this.#members.get(memberId);
    return member?.inviter === inviter && member.portfolioId !== undefined ? member : undefined;
  }

  statusOf(note: InvitationNote): InvitationStatus {
    if (note.isDeleted === true) return 'DELETED';
    if (this.#isExpired(note)) return 'EXPIRED';
    return this.#taken(note) >= note.capacity ? 'FULL' : 'OPEN';
  }

  #isExpired({ expiresAt = Infinity }: InvitationNote): boolean {
    return expiresAt <= this.#deps.clockMs();
  }

  /** Places that members and joins under way take. */
  #taken(note: InvitationNote): number {
    return (this.#membersOf.get(note.id)?.size ?? 0) + this.#unregistered(note.id);
  }

  /** Joins under way whose notes are not there yet. */
  #unregistered(invitationId: string): number {
    const joining = [...(this.#joining.get(invitationId) ?? [])];
    return joining.filter((memberId) => !this.#members.has(memberId)).length;
  }

  /** Number of members of all invitations of a tenant. */
  #takenOf(inviter: string): number {
    const members = [...this.#members.values()].filter((member) => member.inviter === inviter).length;
    const joining = [...this.#joining.keys()].filter((id) => this.#invitations.get(id)?.inviter === inviter);
    return members + joining.reduce((sum, id) => sum + this.#unregistered(id), 0);
  }

  /** Creates an invitation. Throws `InvitationRefused` when the tenant has too many. */
  async create(inviter: string, terms: InvitationTerms): Promise<InvitationNote> {
    const present = this.list(inviter).filter(({ isDeleted }) => isDeleted !== true);
    if (present.length >= MOST_INVITATIONS)
      throw new InvitationRefused(
        { code: 'TOO_MANY' },
        `A tenant has at most ${MOST_INVITATIONS} invitations`,
      );
    const note: InvitationNote = {
      id: randomUUID(),
      inviter,
      code: newCode(),
      createdAt: this.#deps.clockMs(),
      ...terms,
    };
    await this.#saveInvitation(note);
    return note;
  }

  /** Ends the link. The note stays while there are members. */
  async delete(note: InvitationNote): Promise<void> {
    if (note.isDeleted === true) throw notFound();
    await this.#saveInvitation({ ...note, isDeleted: true });
    await this.#dropIfEmpty(note.id);
  }

  async #dropIfEmpty(invitationId: string): Promise<void> {
    const note = this.#invitations.get(invitationId);
    if (note?.isDeleted !== true || this.#taken(note) > 0) return;
    await this.#registry.deleteSetting(invitationName(invitationId));
    this.#read(invitationName(invitationId));
  }

  /** The invitation of a code, if it can be joined. Throws `InvitationRefused`. */
  async find(code: string): Promise<InvitationNote> {
    let id = this.#byCode.get(code);
    // Another node may have created it a moment ago.
    if (id === undefined) {
      await this.#deps.store.ownership?.refreshRegistry();
      id = this.#byCode.get(code);
    }
    const note = id === undefined ? undefined : this.#invitations.get(id);
    if (note === undefined) throw notFound();
    return note;
  }

  /** Refuses an invitation that has expired or is full. */
  refuseClosed(note: InvitationNote): void {
    const { expiresAt = Infinity, capacity } = note;
    if (this.#isExpired(note))
      throw new InvitationRefused({ code: 'EXPIRED', expiredAt: expiresAt }, 'The invitation has expired');
    if (this.#taken(note) >= capacity)
      throw new InvitationRefused({ code: 'FULL', capacity }, 'The invitation is full');
    const { maxMembers } = this.#deps;
    if (this.#takenOf(note.inviter) >= maxMembers)
      throw new InvitationRefused(
        { code: 'FULL', capacity: maxMembers },
        `The invitations of a tenant have at most ${maxMembers.toLocaleString('en-US')} members`,
      );
  }

  /** Joins at the node that serves the inviter. */
  join(note: InvitationNote, request: Omit<JoinRequest, 'invitationId'>): Promise<Joined> {
    const { elsewhere } = this.#deps;
    const asked = { ...request, invitationId: note.id };
    return elsewhere?.isServed(note.inviter) === true
      ? elsewhere.join(note.inviter, asked)
      : this.joinHere(asked);
  }

  /** Joins at this node, which serves the inviter. */
  async joinHere({ invitationId, displayName, request }: JoinRequest): Promise<Joined> {
    const note = this.#invitations.get(invitationId);
    if (note === undefined || note.isDeleted === true) throw notFound();
    if (request === undefined) return this.#joinNow(note, displayName, undefined);
    const key = `${note.id} ${request.key}`;
    if (this.#keysUnderWay.has(key))
      throw new InvitationRefused({ code: 'UNDER_WAY' }, 'A request with this Idempotency-Key is under way');
    this.#keysUnderWay.add(key);
    try {
      const known = this.#joinedWith(note, request);
      if (known === undefined) return await this.#joinNow(note, displayName, request);
      if (known.request?.fingerprint !== request.fingerprint)
        throw new InvitationRefused({ code: 'KEY_USED' }, 'Idempotency-Key was used with another request');
      return { ...(await this.newLink(known)), isReplayed: true };
    } finally {
      this.#keysUnderWay.delete(key);
    }
  }

  /** The member that a request with this key has made within the last day. */
  #joinedWith(note: InvitationNote, { key }: JoinKey): MemberNote | undefined {
    const since = this.#deps.clockMs() - KEY_TTL_MS;
    return this.membersOf(note).find((member) => member.request?.key === key && member.joinedAt > since);
  }

  async #joinNow(note: InvitationNote, displayName: string, request: JoinKey | undefined): Promise<Joined> {
    this.refuseClosed(note);
    this.#countJoin(note.id);
    // The place is taken from here on.
    const memberId = randomUUID();
    const joining = this.#joining.get(note.id) ?? new Set();
    this.#joining.set(note.id, joining.add(memberId));
    try {
      return await this.#make(note, memberId, displayName, request);
    } catch (error) {
      const half = this.#members.get(memberId);
      // When the store does not answer, the next start does it.
      if (half !== undefined) await this.#remove(half).catch(() => undefined);
      throw error;
    } finally {
      joining.delete(memberId);
      if (joining.size === 0) this.#joining.delete(note.id);
    }
  }

  #countJoin(invitationId: string): void {
    const now = this.#deps.monotonicMs();
    const recent = (this.#recent.get(invitationId) ?? []).filter((at) => now - at < 1000);
    this.#recent.set(invitationId, recent);
    if (recent.length >= JOINS_A_SECOND)
      throw new InvitationRefused({ code: 'RATE', retryAfter: 1 }, 'Rate limit exceeded');
    recent.push(now);
  }

  /** Makes a member: its note first, so that what a crash leaves is found, then its tenant, its portfolio, its whole note. */
  async #make(
    note: InvitationNote,
    memberId: string,
    displayName: string,
    request: JoinKey | undefined,
  ): Promise<Joined> {
    const { access, clockMs } = this.#deps;
    const [ofJoin, ofLink] = [drawApiKey(), drawApiKey()];
    const isCreated = note.simulation !== undefined || note.fixture !== undefined;
    const draft = {
      id: memberId,
      invitationId: note.id,
      inviter: note.inviter,
      tier: note.tier,
      // The clock of a created simulation is the member's to move.
      scope: isCreated ? 'trade read simulate' : 'trade read',
      displayName,
      accountId: note.portfolio?.accountId ?? randomUUID(),
      joinedAt: clockMs(),
      keyId: idOfApiKey(ofJoin.hash),
      linkKeyId: idOfApiKey(ofLink.hash),
      ...(request !== undefined && { request }),
    };
    const half = await this.#register(draft);
    const { tenantId, tier } = half;
    // Their texts cannot be exchanged for other rights than those of the member's own tokens.
    for (const key of [ofJoin, ofLink]) await access.createKey({ tenantId, tier, scope: '' }, key);
    const whole = await this.#open(note, half);
    await this.#saveMember(whole);
    return { member: whole, returnCode: ofLink.apiKey, isReplayed: false };
  }

  /** Registers the tenant of a member under an id that is free. */
  async #register(draft: Omit<MemberNote, 'tenantId'>): Promise<MemberNote> {
    for (let draws = 1; ; draws += 1) {
      const half = { ...draft, tenantId: drawTenantId(draft.displayName) };
      const { tenantId: id, tier, joinedAt: createdAt } = half;
      const isFree = this.#registry.tenant(id) === undefined && this.#registry.simulations(id).length === 0;
      if (!isFree && draws < MOST_DRAWS) continue;
      try {
        await Promise.all([
          this.#saveMember(half),
          this.#registry.createTenant({ id, name: id, tier, scope: 'trade read', createdAt }),
        ]);
        return half;
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
        await this.#dropNote(half);
        if (draws === MOST_DRAWS) throw error;
      }
    }
  }

  async #open(note: InvitationNote, half: MemberNote): Promise<MemberNote> {
    const { competitions } = this.#deps;
    const { competitionId } = note;
    const { tenantId, tier, displayName, accountId } = half;
    if (competitionId === undefined) {
      const { portfolio, simulation, fixture } = note;
      const opened = await this.#workOf(tenantId).open({
        tenantId,
        tier,
        displayName,
        accountId,
        ...(portfolio !== undefined && { portfolio }),
        ...(simulation !== undefined && { simulation }),
        ...(fixture !== undefined && { fixture }),
      });
      return { ...half, ...opened };
    }
    const competition = competitions.directory.own(competitionId, note.inviter);
    const entry = await competitions.entries.enterInvited(competition, tenantId, displayName);
    return {
      ...half,
      accountId: entry.accountId,
      portfolioId: entry.portfolioId,
      simulationId: entry.simulationId,
      entry: { competitionId, entryId: entry.id },
    };
  }

  #workOf(tenantId: string): MemberWork {
    const { elsewhere, work } = this.#deps;
    return elsewhere?.isServed(tenantId) === true ? elsewhere.work : work;
  }

  /** The member whose link has this code. Throws `InvitationRefused`. */
  async returning(code: string): Promise<MemberNote> {
    const look = (): MemberNote | undefined => {
      const key = this.#deps.access.keyFor(code);
      if (key === undefined || idOfApiKey(hashOfApiKey(code)) !== key.id) return undefined;
      const member = this.#members.get(this.#byKey.get(key.id) ?? '');
      return member?.linkKeyId === key.id ? member : undefined;
    };
    let member = look();
    if (member === undefined) {
      await this.#deps.store.ownership?.refreshRegistry();
      member = look();
    }
    if (member?.portfolioId === undefined) throw notFound();
    return member;
  }

  /** Replaces the link of a member. The sessions that the old one opened end. */
  async newLink(member: MemberNote): Promise<Omit<Joined, 'isReplayed'>> {
    const { access } = this.#deps;
    const { tenantId, tier } = member;
    const current = this.#members.get(member.id) ?? member;
    await this.#endKey(current.linkKeyId);
    const key = drawApiKey();
    await access.createKey({ tenantId, tier, scope: '' }, key);
    const renewed = { ...current, linkKeyId: idOfApiKey(key.hash) };
    await this.#saveMember(renewed);
    return { member: renewed, returnCode: key.apiKey };
  }

  /** Revokes a key, if it is valid. */
  async #endKey(keyId: string): Promise<void> {
    const { access } = this.#deps;
    if (!access.isRevoked({ keyId, tokenId: undefined, fromTokenIds: [] })) await access.revokeKey(keyId);
  }

  /** Notes a token with which the inviter views a member: it ends with the member. */
  async noteView(member: MemberNote, tokenId: string, expiresAt: number): Promise<void> {
    const { access, clockMs } = this.#deps;
    const current = this.#members.get(member.id) ?? member;
    const valid = (current.views ?? []).filter((view) => view.expiresAt > clockMs());
    const views = [...valid, { tokenId, expiresAt }];
    await this.#saveMember({ ...current, views: views.slice(-MOST_VIEWS) });
    for (const old of views.slice(0, -MOST_VIEWS)) await access.revokeToken(old.tokenId, old.expiresAt);
  }

  async reset(member: MemberNote): Promise<void> {
    if (member.entry !== undefined)
      throw new InvitationRefused(
        { code: 'IN_COMPETITION' },
        'The portfolio of an entry of a competition cannot be reset',
      );
    await this.#workOf(member.tenantId).reset(placeOf(member));
  }

  /** Deletes a member: its tokens end at once, its tenant with everything it has is erased. */
  async deleteMember(member: MemberNote): Promise<void> {
    await this.#remove(member);
    await this.#dropIfEmpty(member.invitationId);
  }

  async #remove(member: MemberNote): Promise<void> {
    const { access, competitions, clockMs } = this.#deps;
    const { tenantId, joinedAt, entry, views = [] } = member;
    for (const keyId of [member.keyId, member.linkKeyId]) await this.#endKey(keyId);
    for (const { tokenId, expiresAt } of views)
      if (expiresAt > clockMs()) await access.revokeToken(tokenId, expiresAt);
    const competitionId = entry?.competitionId ?? this.#invitations.get(member.invitationId)?.competitionId;
    if (competitionId !== undefined) await competitions.entries.withdrawTenant(competitionId, tenantId);
    // A join that lost the draw of its id against another tenant leaves that one alone.
    if (this.#registry.tenant(tenantId)?.createdAt === joinedAt) await this.#workOf(tenantId).erase(tenantId);
    await this.#dropNote(member);
  }

  async #dropNote({ id }: MemberNote): Promise<void> {
    await this.#registry.deleteSetting(memberName(id));
    await this.#registry.deleteSetting(seenName(id));
    this.#leave(id);
  }

  /** A request with a token that derives from a key. */
  seen(keyId: string): void {
    const memberId = this.#byKey.get(keyId);
    if (memberId === undefined) return;
    this.#seen.set(memberId, this.#deps.clockMs());
    this.#unstored.add(memberId);
  }

  /** Last request of a member that this node knows of. */
  seenAt(memberId: string): number | undefined {
    return this.#seen.get(memberId);
  }

  async figuresOf(member: MemberNote): Promise<MemberFigures & { readonly seenAt: number }> {
    const figures = await this.#workOf(servedAs(member))
      .figures(placeOf(member))
      .catch((error: unknown): MemberFigures => {
        // The node of this member does not answer: the roster shows the others.
        if (error instanceof StoreUnavailable) return {};
        throw error;
      });
    const stored = Number(this.#registry.setting(seenName(member.id)) ?? 0);
    const seenAt = Math.max(member.joinedAt, stored, figures.seenAt ?? 0, this.#seen.get(member.id) ?? 0);
    return { ...figures, seenAt };
  }

  async #storeSeen(): Promise<void> {
    const due = [...this.#unstored];
    this.#unstored.clear();
    await Promise.all(
      due.map((memberId) =>
        this.#registry.saveSetting(seenName(memberId), String(this.#seen.get(memberId) ?? 0)),
      ),
    );
  }

  /** Forgets what a tenant has invited, and the tenant as a member, before it is erased. The tenants of its members stay. */
  async eraseTenant(tenantId: string): Promise<void> {
    await eraseInvitationNotes(this.#registry, tenantId);
    const gone = [...this.#members.values()].filter(
      (member) => member.inviter === tenantId || member.tenantId === tenantId,
    );
    for (const { id } of gone) this.#leave(id);
    for (const { id, inviter } of [...this.#invitations.values()])
      if (inviter === tenantId) this.#read(invitationName(id));
    for (const invitationId of new Set(gone.map((member) => member.invitationId)))
      await this.#dropIfEmpty(invitationId);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#clearing;
    // Lost times are at most a minute newer than the stored ones.
    await this.#storeSeen().catch(() => undefined);
  }
}

/** The tenant whose node has the simulation of a member: an entry belongs to the organizer. */
const servedAs = ({ entry, inviter, tenantId }: MemberNote): string =>
  entry === undefined ? tenantId : inviter;

const placeOf = ({
  id,
  tenantId,
  tier,
  portfolioId,
  simulationId,
  entry,
  inviter,
}: MemberNote): MemberPlace => ({
  id,
  tenantId,
  tier,
  inviter,
  ...(portfolioId !== undefined && { portfolioId }),
  ...(simulationId !== undefined && { simulationId }),
  ...(entry !== undefined && { entry }),
});

/** Digests of the key and the body of a request. */
export const joinKeyOf = (key: string, code: string, displayName: string): JoinKey => ({
  key: sha256(key),
  fingerprint: sha256(JSON.stringify([code, displayName])),
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const notFound = (): InvitationRefused =>
  new InvitationRefused({ code: 'NOT_FOUND' }, 'Invitation not found');
