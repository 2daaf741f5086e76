import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { type ColumnDef, tableFeatures, useTable } from "@tanstack/react-table";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useEffect, useMemo, useRef } from "react";
import { Failure, Loading } from "./states.tsx";

const features = tableFeatures({});

export interface Column<Item> {
  readonly name: string;
  /** track of the grid, such as `8rem` */
  readonly width: string;
  readonly cell: (item: Item) => ReactNode;
}

interface ListingProps<Item> {
  readonly of: UseInfiniteQueryResult<InfiniteData<{ readonly items: readonly Item[] }>>;
  readonly columns: readonly Column<Item>[];
  readonly idOf: (item: Item) => string;
  readonly label: string;
  readonly empty: ReactNode;
}

const ROW_PX = 45;
const OVERSCAN = 12;

/** A list of any length: rows that are not seen are not in the page, and the next ones are read when they come near. */
export function Listing<Item extends object>({ of, columns, idOf, label, empty }: ListingProps<Item>) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = of;
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  const definitions = useMemo(
    () =>
      columns.map(
        ({ name, cell }): ColumnDef<typeof features, Item> => ({
          id: name,
          header: name,
          cell: ({ row }) => cell(row.original),
        }),
      ),
    [columns],
  );
  const table = useTable({ features, columns: definitions, data: items, getRowId: idOf });
  const { rows } = table.getRowModel();
  const place = useRef<HTMLTableSectionElement>(null);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: place.current?.offsetTop ?? 0,
    getItemKey: (i) => rows[i]?.id ?? i,
  });
  const seen = virtual.getVirtualItems();
  const last = seen.at(-1)?.index ?? -1;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= rows.length - OVERSCAN) void fetchNextPage();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (data === undefined)
    return error === null ? <Loading lines={8} /> : <Failure error={error} retry={refetch} />;
  const tracks = { "--tracks": columns.map(({ width }) => width).join(" ") } as CSSProperties;
  return (
    <>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {rows.length === 0 ? (
        empty
      ) : (
        <table aria-label={label} aria-rowcount={hasNextPage ? -1 : rows.length + 1} className="listing">
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id} aria-rowindex={1} className="listing-head" style={tracks}>
                {group.headers.map((header) => (
                  <th key={header.id} scope="col">
                    <table.FlexRender header={header} />
                  </th>
                ))}
              </tr>
            ))}
          </thead>
          <tbody ref={place} className="listing-body" style={{ height: virtual.getTotalSize() }}>
            {seen.map(({ index, key, start }) => {
              const row = rows[index] as (typeof rows)[number];
              return (
                <tr
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  aria-rowindex={index + 2}
                  className="listing-row"
                  style={{ ...tracks, transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
                >
                  {row.getAllCells().map((cell) => (
                    <td key={cell.id} data-name={cell.column.id}>
                      <table.FlexRender cell={cell} />
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {isFetchingNextPage && <Loading lines={2} what="Loading more" />}
    </>
  );
}
