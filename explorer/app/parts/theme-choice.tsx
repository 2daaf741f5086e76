import { useTheme } from "../data/theme.ts";

export function ThemeChoice() {
  const [theme, setTheme] = useTheme();
  return (
    <label className="theme-choice">
      <span className="unseen">Colours</span>
      <select value={theme} onChange={(event) => setTheme(event.target.value as typeof theme)}>
        <option value="system">system colours</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
    </label>
  );
}
