/** The pages of the menu, in its order. */
import {
  Bell,
  CandlestickChart,
  Code,
  FlaskConical,
  History,
  LayoutDashboard,
  ListOrdered,
  type LucideIcon,
  ServerCog,
  Trophy,
} from 'lucide-preact';

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: LucideIcon;
}

export const PAGES: readonly PageEntry[] = [
  { path: '', title: 'Overview', icon: LayoutDashboard },
  { path: 'trade', title: 'Trade', icon: CandlestickChart },
  { path: 'orders', title: 'Orders', icon: ListOrdered },
  { path: 'time', title: 'Time machine', icon: History },
  { path: 'simulations', title: 'Simulations', icon: FlaskConical },
  { path: 'competitions', title: 'Competitions', icon: Trophy },
  { path: 'webhooks', title: 'Webhooks', icon: Bell },
  { path: 'developer', title: 'Developer', icon: Code },
  { path: 'administration', title: 'Administration', icon: ServerCog },
];
