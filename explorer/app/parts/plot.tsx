import type { PlotOptions } from "@observablehq/plot";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

type PlotModule = typeof import("@observablehq/plot");

interface ChartProps {
  /** of the figure, for those who do not see it */
  readonly label: string;
  /** @param width pixels that there are */
  readonly options: (plot: PlotModule, width: number) => PlotOptions;
}

/** A chart of Observable Plot, which is loaded when the first one is shown. */
export function Chart({ label, options }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const { data: plot } = useQuery({
    queryKey: ["files", "plot"],
    queryFn: () => import("@observablehq/plot"),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    const element = place.current as HTMLDivElement;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (plot === undefined || width === 0) return;
    const figure = plot.plot({ width, className: "plot", ...options(plot, width) });
    // Plot's own style element is refused by the page's policy; theme/pages.css has what it says.
    for (const style of figure.querySelectorAll("style")) style.remove();
    // The figure is one picture, whose label says what is in it.
    figure.setAttribute("aria-hidden", "true");
    place.current?.replaceChildren(figure);
  }, [plot, width, options]);
  return <div className="chart" ref={place} role="img" aria-label={label} />;
}
