/** The menu of pages: a rail at the left; on a phone a bar at the bottom, with the later pages in a menu. */
import { Ellipsis } from 'lucide-preact';
import { go, hrefOf } from '../route.ts';
import { Menu } from '../ui/menu.tsx';
import { useUnseen } from '../alerts/unseen.ts';
import { useBroker } from '../broker.ts';
import { pagesFor } from './pages.ts';

/** Pages of the bar on a phone. */
const FIRST = 4;

export function Rail({ current }: { readonly current: string }) {
  const broker = useBroker();
  const { simulationId } = broker;
  const pages = pagesFor(broker);
  const later = pages.slice(FIRST);
  const unseen = useUnseen();
  return (
    <nav class="rail" aria-label="Pages">
      <ul>
        {pages.map(({ path, title, icon: Icon }, index) => (
          <li key={path} class={index < FIRST ? '' : 'later'}>
            <a
              href={hrefOf(simulationId, path)}
              aria-current={path === current ? 'page' : undefined}
              title={title}
            >
              <Icon size={18} aria-hidden="true" />
              <span class="title">{title}</span>
              {path === 'alerts' && unseen > 0 && (
                <span class="badge" aria-label={`${unseen} fired`}>
                  {unseen}
                </span>
              )}
            </a>
          </li>
        ))}
        <li class="more">
          <Menu
            label="More pages"
            class={later.some(({ path }) => path === current) ? 'current' : ''}
            items={later.map(({ path, title }) => ({
              id: path,
              title,
              act: () => go(hrefOf(simulationId, path)),
            }))}
          >
            <Ellipsis size={18} aria-hidden="true" />
            <span class="title">More</span>
          </Menu>
        </li>
      </ul>
    </nav>
  );
}
