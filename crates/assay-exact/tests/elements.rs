//! Elements from openings, each judged as a conviction judges it.
mod support;
use assay_exact::openings::{judge, Roots};
use assay_exact::program::Program;
use support::{vectors, Tuple};

const FILES: [&str; 10] =
    ["move", "lookup", "dot", "requant", "rescale", "table", "arith", "float", "reduce", "select"];

#[test]
fn elements_and_their_openings() {
    let mut all = 0;
    let mut lies = 0;
    for file in FILES {
        let mut count = 0;
        for vector in vectors(&format!("{file}.json")) {
            let vector = Tuple::of(&vector);
            let program = Program::read(vector.bytes(0)).unwrap();
            let weights = vector.many_bytes(1);
            let roots = Roots { weights: vector.word(2), trace: vector.word(3) };
            assert_eq!(assay_exact::tree::weights_root(&program, &weights), roots.weights);
            let step = vector.index(4);
            for case in vector.tuples(5) {
                let openings: Vec<_> = case.tuples(3).iter().map(Tuple::opening).collect();
                let found = judge(&program, roots, step, case.index(0), &openings);
                let expected = (case.number(2) as u32, case.number(1) as u32);
                assert_eq!(found, Ok(expected), "{file}, element {} of step {step}", case.index(0));
                lies += u32::from(expected.0 != expected.1);
                count += 1;
                // One turned bit of an opening leads elsewhere.
                let mut turned = openings.clone();
                let last = turned.len() - 1;
                let words = &mut turned[last].words;
                let word = count % words.len();
                words[word][count % 32] ^= 1 << (count % 8);
                assert!(judge(&program, roots, step, case.index(0), &turned).is_err());
                assert!(judge(&program, roots, step, case.index(0), &openings[..last]).is_err());
            }
        }
        println!("{file}: {count} elements");
        all += count;
    }
    println!("{all} elements, {lies} of them claimed wrongly");
    assert!(all >= 700 && lies >= 100);
}
