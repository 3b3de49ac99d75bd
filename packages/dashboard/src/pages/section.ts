/** A section of the analytics: of which portfolio, and the query of the address. */
export interface SectionProps {
  readonly portfolioId: string;
  readonly query: URLSearchParams;
}
