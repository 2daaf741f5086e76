import { useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { healthQuery } from "../data/queries.ts";
import { source } from "../data/source.ts";
import { Jump } from "../parts/jump.tsx";
import { ThemeChoice } from "../parts/theme-choice.tsx";
import { Banners } from "./banners.tsx";
import { ChainHead } from "./chain-head.tsx";
import { SearchBox } from "./search-box.tsx";

const PAGES = [
  ["/", "Overview"],
  ["/models", "Models"],
  ["/requests", "Requests"],
  ["/claims", "Claims"],
  ["/accounts", "Accounts"],
  ["/import", "Import"],
] as const;
/** Where the deployment has promises. */
const PROMISES = [
  ["/batches", "Batches"],
  ["/signed-claims", "Signed claims"],
] as const;
/** Where daemons are watched. */
const OPERATOR = ["/operator", "Operator"] as const;

function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect className="mark-ground" width="32" height="32" rx="7" />
      <path className="mark-letter" d="M7 24 16 7l9 17" />
      <path className="mark-check" d="m11.5 20 3.5 3.2 7-7.4" />
    </svg>
  );
}

/** What stands around every page. */
export function Shell() {
  const { data: health } = useQuery(healthQuery);
  const pages = [
    ...PAGES.slice(0, 4),
    ...(health?.promises === undefined ? [] : PROMISES),
    ...PAGES.slice(4),
    ...((health?.watched ?? 0) > 0 ? [OPERATOR] : []),
  ];
  return (
    <>
      <Jump className="skip" to="page">
        To the page
      </Jump>
      <header className="shell-header">
        <div className="shell-width shell-bar">
          <Link to="/" className="brand">
            <Mark />
            Assay
          </Link>
          <SearchBox />
          <ChainHead />
        </div>
        <nav className="shell-width shell-nav" aria-label="Pages">
          {pages.map(([to, name]) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === "/" }}
              activeProps={{ "aria-current": "page" }}
            >
              {name}
            </Link>
          ))}
        </nav>
      </header>
      <main id="page" className="shell-width shell-page" tabIndex={-1}>
        <Banners />
        <Outlet />
      </main>
      <footer className="shell-footer">
        <div className="shell-width row spread small soft">
          <span>
            This explorer only reads: what is sent, your wallet sends.{" "}
            {source().origin === undefined ? (
              <>
                It has no server, and reads the chain here. Its data as JSON: <code>assay.fetch</code> in the
                browser's console, by the paths of a server.
              </>
            ) : (
              <>
                Its data as JSON: <a href="/openapi.json">/openapi.json</a>
              </>
            )}
          </span>
          <ThemeChoice />
        </div>
      </footer>
    </>
  );
}
