import { Tooltip } from "radix-ui";
import { type ReactNode, useState } from "react";

interface HintProps {
  readonly tip: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}

/** Shows `tip` on hover, on focus and, for fingers, on a press. */
export function Hint({ tip, children, className = "" }: HintProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Tooltip.Root open={isOpen} onOpenChange={setOpen}>
      <Tooltip.Trigger
        type="button"
        className={`hint ${className}`}
        onClick={(event) => {
          // Radix closes on a press, which is right for buttons that do something.
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className="tip" sideOffset={4} collisionPadding={12}>
          {tip}
          <Tooltip.Arrow className="tip-arrow" />
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
