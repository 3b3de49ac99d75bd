/** The pages of the menu, in its order. */
import type { Scope } from '@sandpit/protocol';
import {
  Bell,
  BellRing,
  CandlestickChart,
  ClipboardCheck,
  Code,
  FlaskConical,
  History,
  LayoutDashboard,
  ListOrdered,
  type LucideIcon,
  ServerCog,
  Trophy,
  Users,
} from 'lucide-preact';

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: LucideIcon;
  /** Offered only to tokens with this scope. */
  readonly scope?: Scope;
  /** False = not offered to the token of an entry of a competition. */
  readonly isForEntries?: false;
}

export const PAGES: readonly PageEntry[] = [
  { path: '', title: 'Overview', icon: LayoutDashboard },
  { path: 'trade', title: 'Trade', icon: CandlestickChart },
  { path: 'orders', title: 'Orders', icon: ListOrdered },
  { path: 'time', title: 'Time machine', icon: History },
  { path: 'alerts', title: 'Alerts', icon: BellRing, isForEntries: false },
  { path: 'simulations', title: 'Simulations', icon: FlaskConical },
  { path: 'competitions', title: 'Competitions', icon: Trophy },
  { path: 'evaluations', title: 'Evaluations', icon: ClipboardCheck, scope: 'simulate' },
  { path: 'invitations', title: 'Invitations', icon: Users, scope: 'admin' },
  { path: 'webhooks', title: 'Webhooks', icon: Bell },
  { path: 'developer', title: 'Developer', icon: Code },
  { path: 'administration', title: 'Administration', icon: ServerCog, scope: 'operator' },
];

/** The pages that are offered to a token. */
export const pagesFor = (broker: {
  readonly may: (scope: Scope) => boolean;
  readonly claims: { readonly isEntry: boolean };
}): readonly PageEntry[] =>
  PAGES.filter(
    ({ scope, isForEntries }) =>
      (scope === undefined || broker.may(scope)) && (isForEntries !== false || !broker.claims.isEntry),
  );
