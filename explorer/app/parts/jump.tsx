import type { MouseEvent, ReactNode } from "react";

interface JumpProps {
  /** id of something on this page that can have the focus */
  readonly to: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A link within the page. The address stays: what is behind its number sign may be the page. */
export function Jump({ to, className, children }: JumpProps) {
  const jump = (event: MouseEvent) => {
    event.preventDefault();
    const target = document.getElementById(to);
    target?.scrollIntoView();
    target?.focus({ preventScroll: true });
  };
  return (
    <a className={className} href={`#${to}`} onClick={jump}>
      {children}
    </a>
  );
}
