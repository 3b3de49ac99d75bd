/** Panels side by side whose borders are dragged, or moved with the arrow keys. Their sizes are stored in this browser. */
import { normalizeProps, useMachine } from '@zag-js/preact';
import * as splitter from '@zag-js/splitter';
import { type ComponentChildren, Fragment } from 'preact';

export interface SplitPanel {
  readonly id: string;
  readonly title: string;
  /** Percentage of the whole. */
  readonly size: number;
  readonly minSize: number;
  readonly content: ComponentChildren;
}

/** Drags adjoining borders together. The library would add a style element for its cursor, which the policy of the page forbids. */
const registry = Object.assign(splitter.registry(), {
  setGlobalCursor: (cursor: string): void => {
    document.documentElement.style.cursor = cursor;
  },
  clearGlobalCursor: (): void => {
    document.documentElement.style.cursor = '';
  },
});

export function Split({
  id,
  orientation,
  panels,
}: {
  /** The storage key of the sizes. */
  readonly id: string;
  readonly orientation: 'horizontal' | 'vertical';
  readonly panels: readonly SplitPanel[];
}) {
  const key = `sandpit-split-${id}`;
  const service = useMachine(splitter.machine, {
    id,
    orientation,
    registry,
    panels: panels.map((one) => ({ id: one.id, minSize: one.minSize })),
    defaultSize: [...(keptSizes(key, panels.length) ?? panels.map(({ size }) => size))],
    onResizeEnd: ({ size }) => localStorage.setItem(key, JSON.stringify(size)),
  });
  const api = splitter.connect(service, normalizeProps);
  return (
    <div {...api.getRootProps()} class="split-view">
      {panels.map((panel, index) => {
        const next = panels[index + 1];
        return (
          <Fragment key={panel.id}>
            <div {...api.getPanelProps({ id: panel.id })}>{panel.content}</div>
            {next !== undefined && (
              <div
                {...api.getResizeTriggerProps({ id: `${panel.id}:${next.id}` })}
                aria-label={`Border between ${panel.title} and ${next.title}`}
              />
            )}
          </Fragment>
        );
      })}
    </div>
  );
}

function keptSizes(key: string, count: number): readonly number[] | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as unknown;
    const isUsable =
      Array.isArray(kept) && kept.length === count && kept.every((size) => typeof size === 'number');
    return isUsable ? kept : undefined;
  } catch {
    return undefined;
  }
}
