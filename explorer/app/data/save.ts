/** Has the browser save a file that this page made. */
export function save(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
