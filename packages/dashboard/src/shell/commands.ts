/** Commands that the palette offers in addition to search results. */
import type { Broker } from '../broker.ts';
import type { Hit } from '../parts/search.ts';
import { hrefOf } from '../route.ts';
import { chooseTheme, type Theme } from '../theme.ts';
import { RULES } from '../why/rule-pages.ts';
import { pagesFor } from './pages.ts';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['light', 'Light theme'],
  ['dark', 'Dark theme'],
  ['system', 'System theme'],
];

const opened = (path: string) => (): void => void window.open(path, '_blank', 'noopener');

/** Pages of the documentation, opened next to the dashboard. */
export const DOCUMENTS: readonly Hit[] = [
  ...[
    ['/docs/quickstart', 'Quickstart'],
    ['/docs/dashboard', 'The dashboard'],
    ['/docs/api/', 'API reference'],
    ['/docs/reference/errors', 'Errors'],
    ['/docs/glossary', 'Glossary'],
  ].map(([path = '', title = '']): Hit => ({ id: path, title, kind: 'Docs', act: opened(path) })),
  ...Object.values(RULES).map(([name, title]): Hit => ({
    id: `rule ${name}`,
    title,
    kind: 'Rule',
    act: opened(`/docs/rules/${name}`),
  })),
];

export function commands(broker: Broker, onHelp: () => void): readonly Hit[] {
  const { simulationId } = broker;
  return [
    ...pagesFor(broker).map(({ path, title }) => ({
      id: `page ${path}`,
      title,
      kind: 'Page',
      href: hrefOf(simulationId, path),
    })),
    ...(broker.may('simulate')
      ? [
          {
            id: 'compare brokers',
            title: 'Compare brokers, latencies and fill models',
            kind: 'Command',
            href: hrefOf(simulationId, 'time', { section: 'compare' }),
          },
        ]
      : []),
    { id: 'help', title: 'Help and keys', kind: 'Command', act: onHelp },
    ...THEMES.map(([theme, title]) => ({
      id: `theme ${theme}`,
      title,
      kind: 'Command',
      act: () => chooseTheme(theme),
    })),
  ];
}
