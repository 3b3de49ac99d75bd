/** The page of a rule in a panel at the side. It stays open while the user continues working. */
import { X } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RulePage } from './rule-pages.ts';
import './why.css';

export function RulePanel() {
  const [page, setPage] = useState<RulePage>();
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    const open = (event: Event): void => {
      before.current = document.activeElement;
      setPage((event as CustomEvent<RulePage>).detail);
    };
    addEventListener('rule', open);
    return () => removeEventListener('rule', open);
  }, []);
  useEffect(() => heading.current?.focus(), [page]);
  if (page === undefined) return null;
  const { title } = page;
  const address = `/docs/${page.path}`;
  const close = (): void => {
    setPage(undefined);
    if (before.current instanceof HTMLElement) before.current.focus();
  };
  return (
    <aside
      class="rule-panel"
      aria-label="Rule"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
      }}
    >
      <header>
        <h2 tabIndex={-1} ref={heading}>
          {title}
        </h2>
        <a href={address} target="_blank" rel="noopener">
          Open page
        </a>
        <button type="button" class="icon-button" aria-label="Close the rule" onClick={close}>
          <X size={18} aria-hidden="true" />
        </button>
      </header>
      <iframe src={address} title={`Rule: ${title}`} />
    </aside>
  );
}
