//! Reveals and ids.
mod support;
use assay_exact::ids::Model;
use assay_exact::program::Program;
use assay_exact::reveal::{check_reveal, trace_root_of_tops, Position};
use support::{vectors, Tuple};

const BOND: u8 = 4;

#[test]
fn reveals() {
    let vectors = vectors("reveal.json");
    let mut tampered = 0;
    for (i, vector) in vectors.iter().enumerate() {
        let vector = Tuple::of(vector);
        let program = Program::read(vector.bytes(0)).unwrap();
        let root = vector.word(1);
        let tops = vector.words(2);
        assert_eq!(trace_root_of_tops(&program, &tops), Ok(root), "vector {i}");
        let position = Position::of(vector.number(3));
        let (content, path) = (vector.words(4), vector.words(5));
        let check =
            |position, content: &[_], path: &[_]| check_reveal(&program, &root, position, content, path);
        assert_eq!(check(position, &content, &path), Ok(()), "vector {i}");
        // Any other word, number of words, sibling or place is refused.
        for at in 0..content.len() {
            let mut turned = content.clone();
            turned[at][at % 32] ^= 1 << (i % 8);
            assert!(check(position, &turned, &path).is_err(), "vector {i}, word {at}");
            tampered += 1;
        }
        for at in 0..path.len() {
            let mut turned = path.clone();
            turned[at][31] ^= 1;
            assert!(check(position, &content, &turned).is_err(), "vector {i}, sibling {at}");
            tampered += 1;
        }
        assert!(check(position, &content[1..], &path).is_err());
        assert!(check(position, &content, &[&path[..], &[root]].concat()).is_err());
        assert!(check(Position { index: position.index | 1 << 39, ..position }, &content, &path).is_err());
        assert!(check(Position { level: position.level + 1, ..position }, &content, &path).is_err());
        let mut turned = tops;
        turned[0][0] ^= 1;
        assert_ne!(trace_root_of_tops(&program, &turned), Ok(root));
    }
    println!("{} reveals, {tampered} tampered", vectors.len());
    assert!(tampered > 1000);
}

#[test]
fn model_ids_and_words() {
    let mut count = 0;
    for (i, vector) in vectors("program.json").iter().enumerate() {
        let vector = Tuple::of(vector);
        let Ok(program) = Program::read(vector.bytes(0)) else { continue };
        let model =
            Model { weights_root: vector.word(3), selector: [1, 2, 3, 4], lanes: BOND, vk_hash: [0; 32] };
        assert_eq!(model.word(&program), vector.word(4), "vector {i}");
        assert_eq!(model.id(&program, vector.bytes(0)), vector.word(5), "vector {i}");
        count += 1;
    }
    println!("{count} model ids");
    assert!(count > 0);
}
