/** The page of a rule in a panel at the side. It stays open while the user goes on working. */
import { X } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type RuleName, RULES } from './rule.tsx';
import './why.css';

export function RulePanel() {
  const [name, setName] = useState<RuleName>();
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    const open = (event: Event): void => {
      before.current = document.activeElement;
      setName((event as CustomEvent<RuleName>).detail);
    };
    addEventListener('rule', open);
    return () => removeEventListener('rule', open);
  }, []);
  useEffect(() => heading.current?.focus(), [name]);
  if (name === undefined) return null;
  const [page, title] = RULES[name];
  const close = (): void => {
    setName(undefined);
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
        <a href={`/docs/rules/${page}`} target="_blank" rel="noopener">
          Open page
        </a>
        <button type="button" class="icon-button" aria-label="Close the rule" onClick={close}>
          <X size={18} aria-hidden="true" />
        </button>
      </header>
      <iframe src={`/docs/rules/${page}`} title={`Rule: ${title}`} />
    </aside>
  );
}
