/** The menu of pages: a rail at the left, a bar at the bottom on a phone. */
import { hrefOf } from '../route.ts';
import { PAGES } from './pages.ts';

export function Rail({ simulationId, current }: { readonly simulationId: string; readonly current: string }) {
  return (
    <nav class="rail" aria-label="Pages">
      <ul>
        {PAGES.map(({ path, title, icon: Icon }) => (
          <li key={path}>
            <a
              href={hrefOf(simulationId, path)}
              aria-current={path === current ? 'page' : undefined}
              title={title}
            >
              <Icon size={18} aria-hidden="true" />
              <span class="title">{title}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
