/** Commands that the palette offers in addition to search results. */
import type { Broker } from '../broker.ts';
import type { Hit } from '../live/search.ts';
import { hrefOf } from '../route.ts';
import { chooseTheme, type Theme } from '../theme.ts';
import { pagesFor } from './pages.ts';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['light', 'Light theme'],
  ['dark', 'Dark theme'],
  ['system', 'Theme of the system'],
];

export function commands(broker: Broker): readonly Hit[] {
  const { simulationId } = broker;
  return [
    ...pagesFor(broker).map(({ path, title }) => ({
      id: `page ${path}`,
      title,
      kind: 'Page',
      href: hrefOf(simulationId, path),
    })),
    ...THEMES.map(([theme, title]) => ({
      id: `theme ${theme}`,
      title,
      kind: 'Command',
      act: () => chooseTheme(theme),
    })),
  ];
}
