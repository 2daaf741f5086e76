// Node.js's own import. Vite's gives a package's file a query, and so makes a second instance of it.
module.exports = (url) => import(url);
